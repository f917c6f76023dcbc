import { adoptSnapshot, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, State } from './follow.ts';
import { contentAwaited, gracePeriodMs, verdictOf, wantedContent } from './plain-rules.ts';
import { longestReconcileMs } from './reconcile.ts';
import { type Slots, slotsIn } from './slots-of.ts';

/**
 * L2, work-conserving: once the faults end, a slot stays free while an image waits for it for at most a sweep, a reconcile and
 * the grace period after the Lease was created again (plus the clock skew, because another clock may have written that time).
 * Images that wait for another of their namespace to have downloaded their content, whose source is not inspected yet, while the policy asks for it, whose namespace has all of its slots, that are being deleted or adopt a snapshot do not wait for a slot, and no image does while a policy key does not parse or there is a budget.
 */
export const l2WorkConserving: Invariant = {
  number: 'L2',
  rule: 'no slot stays free while an image waits for it',
  judge: (state, { stillFromMs, sweepMs = 30_000, skewMs = 0, endMs }) => {
    if (stillFromMs === undefined) return {};
    const waiting = new Set([...state.images].filter(([, image]) => isWaiting(image)).map(([uid]) => uid));
    let idleSinceMs: number | undefined;
    const late = (nowMs: number) => {
      if (idleSinceMs === undefined) return undefined;
      const idleMs = nowMs - Math.max(idleSinceMs, stillFromMs);
      if (idleMs <= sweepMs + longestReconcileMs + gracePeriodMs + skewMs) return undefined;
      idleSinceMs = undefined;
      return `a slot was free for ${idleMs} ms while ${waiting.size} images waited`;
    };
    const update = (nowMs: number) => {
      if (!hasFree(state) || !someWaits(waiting, state)) idleSinceMs = undefined;
      else idleSinceMs ??= nowMs;
    };
    return {
      every: ({ change }) => {
        const message = late(change.atMs);
        update(change.atMs);
        return message;
      },
      lease: ({ object, before, change }) => {
        if (object.spec?.acquireTime !== before?.spec?.acquireTime) idleSinceMs = change.atMs;
        return undefined;
      },
      image: ({ object, isGone }) => {
        if (!isGone && isWaiting(object)) waiting.add(object.metadata.uid);
        else waiting.delete(object.metadata.uid);
        return undefined;
      },
      end: () => {
        const message = late(endMs);
        return message ? [message] : [];
      },
    };
  },
};

const isWaiting = ({ metadata, status }: VMDiskImage) =>
  metadata.deletionTimestamp === undefined &&
  (status?.phase === 'Queued' || (!status?.phase && metadata.annotations?.[adoptSnapshot] === undefined));

const hasFree = ({ slots, policies: { now } }: State) =>
  slots !== undefined && now.faults.length === 0 && !now.values.egressBudget && slots.size < now.values.concurrency;

function someWaits(waiting: ReadonlySet<string>, { slots, images, policies: { now } }: State): boolean {
  for (const uid of waiting) {
    const image = images.get(uid);
    const { namespace = '' } = image?.metadata ?? {};
    // If it stays uninspected, L1 fails.
    if (image && now.values.inspectTimeout > 0 && verdictOf(image) === 'open') continue;
    if (image && slots && isAwaited(wantedContent(image), slots, images)) continue;
    if (slots && !slots.has(uid) && slotsIn(slots, namespace) < now.values.slotsPerNamespace) return true;
  }
  return false;
}

/** An image downloads this content. */
function isAwaited(wanted: string | undefined, slots: Slots, images: State['images']): boolean {
  if (wanted === undefined) return false;
  for (const [uid, image] of images) if (contentAwaited(image, slots.has(uid)) === wanted) return true;
  return false;
}
