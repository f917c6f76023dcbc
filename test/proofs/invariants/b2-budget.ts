import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant } from './follow.ts';
import { grantOf } from './grant.ts';
import { isReadable, type Policy } from './plain-policy.ts';
import { wantedContent } from './plain-rules.ts';
import { readableFrom } from './policies.ts';
import { isExternal } from './writers.ts';

/** What an attempt asks of its source, and the day (UTC) on which it got its slot. */
interface Begun {
  day: number;
  bytes: number;
}

/** What is wrong with a slot unless its attempt is a clone, which its image says a moment later. */
interface Doubt {
  begun: Begun;
  found: string | undefined;
}

const dayMs = 86_400_000;

/**
 * B2, budget: an attempt gets a slot only while the attempts before it, of the budget's days, have not spent all of egressBudget, by some
 * policy that its reconcile may have read; an image with annotation pelotech.ot/ignore-budget in an image namespace gets one nevertheless.
 * A clone of another image's snapshot costs nothing. So the budget is exceeded by one image at most. Counted is the size of the source as
 * inspected, or of the disk. What a Lease that others deleted or edited had counted is lost.
 */
export const b2Budget: Invariant = {
  number: 'B2',
  rule: 'nothing starts once the budget is spent',
  judge: (state) => {
    let begun: Begun[] = [];
    const doubts = new Map<string, Doubt>();
    return {
      image: ({ object: { metadata, status }, before }) => {
        const doubt = doubts.get(metadata.uid);
        if (!doubt || before?.status?.phase === 'Syncing' || status?.phase !== 'Syncing') return undefined;
        doubts.delete(metadata.uid);
        if (!status.sharedFrom) return doubt.found;
        doubt.begun.bytes = 0;
        return undefined;
      },
      lease: (step) => {
        if (isExternal(step.change) || step.isGone || !step.slotsBefore) begun = [];
        const grant = grantOf(step);
        const day = Math.floor(Date.parse(step.object.spec?.renewTime ?? '') / dayMs);
        let report: string | undefined;
        const policies = grant ? readableFrom(state.policies, grant.began) : [];
        for (const { uid, image: name } of grant?.added ?? []) {
          const image = state.images.get(uid);
          const isAllowed = policies.some((policy) => mayBegin(policy, image, begun, day));
          const found = isAllowed ? undefined : `${name} got a slot although the budget is spent`;
          const one = { day, bytes: image ? sizeOf(image) : 0 };
          begun.push(one);
          // Whether it is a clone shows when it begins.
          if (image && wantedContent(image) !== undefined) doubts.set(uid, { begun: one, found });
          else report ??= found;
        }
        return report;
      },
    };
  },
};

function mayBegin(policy: Policy, image: VMDiskImage | undefined, begun: readonly Begun[], day: number): boolean {
  if (!isReadable(policy, 'egressBudget')) return false;
  const { egressBudget: budget, imageNamespaces } = policy.values;
  if (!budget || !image) return true;
  const { annotations, namespace = '' } = image.metadata;
  if (annotations?.['pelotech.ot/ignore-budget'] === 'true' && imageNamespaces.includes(namespace)) return true;
  const spent = begun.filter((one) => one.day > day - budget.days).reduce((sum, { bytes }) => sum + bytes, 0);
  return spent < budget.bytes;
}

const units: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };

const sizeOf = ({ spec, status }: VMDiskImage) =>
  status?.source?.bytes ?? Number.parseFloat(spec.diskSize) * (units[spec.diskSize.slice(-2)] ?? 1);
