import { imageUidLabel } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, State, Step } from './follow.ts';
import { isByStartSync } from './grant.ts';
import { isInFlight, rememberDone } from './in-flight.ts';
import { conditionOf, contentOf } from './plain-rules.ts';
import { existedAtStart, longestReconcileMs } from './reconcile.ts';
import { addedTo, type Slots } from './slots-of.ts';

/**
 * L4, recovery: a lost Lease is rebuilt with every image whose DataVolume was in flight when the rebuilding reconcile began, and
 * with no image that neither held a slot nor downloaded. Once the faults end, the Lease is readable. A download without a slot
 * ends or gets one within a sweep and a reconcile; if its image does not exist, within an audit and a reconcile, because only the
 * audit of prune finds it. An image whose earlier spec is restored is not refused by the policy that accepted that spec before.
 */
export const l4Recovery: Invariant = {
  number: 'L4',
  rule: 'what was damaged and repaired is as before',
  judge: (state, { stillFromMs, sweepMs = 30_000, auditMs = 600_000 }) => {
    const done = rememberDone();
    const taken = new Set<string>();
    let lost: Slots | undefined;
    let wasLost = false;
    const takenOut = new Map<string, { image: string; sinceMs: number }>();
    return {
      download: (step) => {
        done.note(step);
        const { uid } = step.object.metadata;
        if (step.isGone || !isInFlight(step.object) || done.isDone(step.object)) takenOut.delete(uid);
        return undefined;
      },
      every: ({ change }) => {
        for (const [uid, { image, sinceMs }] of takenOut) {
          const withinMs = (state.images.has(image) ? sweepMs : auditMs) + longestReconcileMs;
          if (stillFromMs === undefined || change.atMs < Math.max(sinceMs, stillFromMs) + withinMs) continue;
          takenOut.delete(uid);
          return `a download (${uid}) has no slot`;
        }
        return undefined;
      },
      lease: (step) => {
        if (step.slotsBefore) lost = step.slotsBefore;
        if (!step.state.slots) wasLost = true;
        const isOpen = (found: Download) => isInFlight(found) && !done.isDone(found);
        for (const { uid, image, hasSlot } of openDownloads(step.state, isOpen)) {
          if (hasSlot) takenOut.delete(uid);
          else if (step.state.slots && !takenOut.has(uid)) takenOut.set(uid, { image, sinceMs: step.change.atMs });
        }
        if (step.slotsBefore || !step.state.slots || !wasLost || !isByStartSync(step)) return undefined;
        return rebuiltWrongly(step, step.state.slots, lost, isOpen);
      },
      image: ({ object, before, isGone }) => {
        if (!isGone && object.status?.phase === 'Succeeded' && before?.status?.phase !== 'Succeeded')
          taken.add(`${object.metadata.uid} ${contentOf(object)}`);
        return undefined;
      },
      end: () => {
        if (stillFromMs === undefined) return [];
        const lostNow = wasLost && !state.slots ? ['the Lease was lost and is not rebuilt'] : [];
        return [...lostNow, ...refusedAgain(state, taken)];
      },
    };
  },
};

type Download = Parameters<typeof isInFlight>[0];

/** Each download in progress, and whether its image has a slot. */
const openDownloads = ({ downloads, slots }: State, isOpen: (found: Download) => boolean) =>
  [...downloads].flatMap(([image, found]) =>
    [...found].filter(([, one]) => isOpen(one)).map(([uid]) => ({ uid, image, hasSlot: slots?.has(image) ?? false })),
  );

function rebuiltWrongly(step: Step, slots: Slots, lost: Slots | undefined, isOpen: (found: Download) => boolean) {
  const inFlight = [...step.state.downloads.values()].flatMap((found) => [...found.values()].filter(isOpen));
  const missing = inFlight.find(
    ({ metadata }) => !slots.has(metadata.labels?.[imageUidLabel] ?? '') && existedAtStart(step, metadata.uid),
  );
  if (missing) return `the Lease was rebuilt without the image of ${missing.metadata.name}, which is in flight`;
  const stranger = addedTo(lost, slots).find(({ uid }) => !step.state.downloads.has(uid) && !step.state.pods.has(uid));
  return stranger && `the Lease was rebuilt with ${stranger.image}, which never downloaded anything`;
}

const refusedAgain = ({ images, policies }: State, taken: ReadonlySet<string>): string[] =>
  policies.edits.length > 0
    ? []
    : [...images.values()]
        .filter(({ status }) => status?.phase === 'Failed')
        .filter(({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === 'SourceNotAllowed')
        .filter((image) => taken.has(`${image.metadata.uid} ${contentOf(image)}`))
        .map(({ metadata }) => `${metadata.name} was Succeeded with the same spec and is refused now`);
