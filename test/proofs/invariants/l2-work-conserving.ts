import { adoptSnapshot, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, State } from './follow.ts';
import { longestPassMs } from './pass.ts';
import { gracePeriodMs } from './plain-rules.ts';

/**
 * L2, work conserving: once all is still, a free slot and an image that waits for one are not there together for longer than a
 * sweep and a pass (events that were lost before are found by then), nor longer than nothing is granted for after the Lease was made anew, which
 * is counted from a time that another clock may have written. Nobody waits who is being deleted or is to adopt a snapshot, nor while a key of the policy cannot be read (reliability §2).
 */
export const l2WorkConserving: Invariant = {
  number: 'L2',
  says: 'no slot stays free while an image waits for it',
  judge: (state, { stillFromMs, sweepMs = 30_000, skewMs = 0, endMs }) => {
    if (stillFromMs === undefined) return {};
    const waiting = new Set([...state.images].filter(([, image]) => isWaiting(image)).map(([uid]) => uid));
    let idleSinceMs: number | undefined;
    const late = (nowMs: number) => {
      if (idleSinceMs === undefined) return undefined;
      const idleMs = nowMs - Math.max(idleSinceMs, stillFromMs);
      if (idleMs <= sweepMs + longestPassMs + gracePeriodMs + skewMs) return undefined;
      idleSinceMs = undefined;
      return `a slot was free for ${idleMs} ms while ${waiting.size} images waited`;
    };
    const look = (nowMs: number) => {
      if (!hasFree(state) || !someWaits(waiting, state)) idleSinceMs = undefined;
      else idleSinceMs ??= nowMs;
    };
    return {
      every: ({ change }) => {
        const says = late(change.atMs);
        look(change.atMs);
        return says;
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
        const says = late(endMs);
        return says ? [says] : [];
      },
    };
  },
};

const isWaiting = ({ metadata, status }: VMDiskImage) =>
  metadata.deletionTimestamp === undefined &&
  (status?.phase === 'Queued' || (!status?.phase && metadata.annotations?.[adoptSnapshot] === undefined));

const hasFree = ({ slots, policies: { now } }: State) =>
  slots !== undefined && now.faults.length === 0 && slots.size < now.values.concurrency;

function someWaits(waiting: ReadonlySet<string>, { slots }: State): boolean {
  for (const uid of waiting) if (!slots?.has(uid)) return true;
  return false;
}
