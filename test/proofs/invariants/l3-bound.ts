import type { VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant } from './follow.ts';
import { longestPassMs } from './pass.ts';
import type { Policy } from './plain-policy.ts';
import { backoffMs, isAdopting } from './plain-rules.ts';

/** How long a revision has been in hand: everything but its time in the queue. */
interface Timed {
  spentMs: number;
  sinceMs: number;
  /** Its next attempt where that was set by a policy that is no more: an edit lets nobody wait less. */
  dueMs: number;
  status: VMDiskImageStatus;
}

/**
 * L3, bound: once all is still a revision that has left the queue is at its end after (retryLimit + 1) attempts, a snapshot, the
 * back-offs between them, and a sweep for each step, its time in the queue not counted. An attempt that never started begins the
 * count anew; one that adopts has no bound; an edit of the policy begins all anew (reliability §2).
 */
export const l3Bound: Invariant = {
  number: 'L3',
  says: 'a sync ends within its limits',
  judge: (state, { stillFromMs, sweepMs = 30_000, endMs }) => {
    if (stillFromMs === undefined) return {};
    const timed = new Map<string, Timed>();
    let editedMs = Number.NEGATIVE_INFINITY;
    const spentBy = ({ spentMs, sinceMs, dueMs, status }: Timed, nowMs: number) =>
      spentMs + (isInHand(status) ? Math.max(0, nowMs - Math.max(sinceMs, dueMs, stillFromMs)) : 0);
    const over = (found: Timed, nowMs: number) => {
      const [spentMs, boundMs] = [spentBy(found, nowMs), boundOf(state.policies.now, sweepMs)];
      return spentMs > boundMs ? `has been in hand for ${spentMs} ms, expected at most ${boundMs} ms` : undefined;
    };
    const take = (uid: string, status: VMDiskImageStatus, sinceMs: number, dueMs = sinceMs) =>
      timed.set(uid, { spentMs: 0, sinceMs, dueMs, status });
    for (const [uid, { status }] of state.images) if (status) take(uid, status, Number.NEGATIVE_INFINITY);
    return {
      policy: ({ change }) => {
        editedMs = change.atMs;
        for (const [uid, { status }] of timed) take(uid, status, change.atMs, dueOf(status));
        return undefined;
      },
      image: ({ object, change, isGone }) => {
        const { metadata, status } = object;
        const found = timed.get(metadata.uid);
        if (isGone || !status?.phase || metadata.deletionTimestamp || isAdopting(object)) {
          timed.delete(metadata.uid);
          return undefined;
        }
        const isUnstarted = found && (status.attempts ?? 0) < (found.status.attempts ?? 0);
        if (!found || status.revision !== found.status.revision || isUnstarted) take(metadata.uid, status, change.atMs);
        else {
          // Who had read the policy before its edit goes by that.
          const dueMs = change.atMs - editedMs < longestPassMs ? (dueOf(status) ?? found.dueMs) : found.dueMs;
          timed.set(metadata.uid, { spentMs: spentBy(found, change.atMs), sinceMs: change.atMs, dueMs, status });
        }
        const says = found && over(found, change.atMs);
        return says && `${metadata.name} ${says}`;
      },
      end: () =>
        [...timed].flatMap(([uid, found]) => {
          const says = over(found, endMs);
          return says ? [`${state.images.get(uid)?.metadata.name ?? uid} ${says}`] : [];
        }),
    };
  },
};

const isInHand = ({ phase }: VMDiskImageStatus) =>
  phase === 'Syncing' || phase === 'Snapshotting' || phase === 'Retrying';

/** When its next attempt is due, in milliseconds since the epoch; undefined where it waits for none. */
const dueOf = ({ phase, nextAttemptAt }: VMDiskImageStatus) =>
  phase === 'Retrying' && nextAttemptAt ? Date.parse(nextAttemptAt) : undefined;

function boundOf(policy: Policy, sweepMs: number): number {
  const { retryLimit, startTimeout, syncTimeout, snapshotTimeout } = policy.values;
  const attempts = retryLimit + 1;
  let waitsMs = 0;
  for (let failed = 1; failed <= retryLimit; failed++) waitsMs += backoffMs(failed, policy);
  const stepMs = sweepMs + longestPassMs;
  return attempts * (Math.max(startTimeout, syncTimeout) + 2 * stepMs) + snapshotTimeout + 2 * stepMs + waitsMs;
}
