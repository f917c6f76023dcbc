import type { VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant } from './follow.ts';
import type { Policy } from './plain-policy.ts';
import { backoffMs, isAdopting } from './plain-rules.ts';
import { longestReconcileMs } from './reconcile.ts';

/** How long a revision is in progress, without its time in the queue. */
interface Sync {
  spentMs: number;
  sinceMs: number;
  /** When its next attempt is due, if an earlier policy set that: an edit of the policy shortens no wait. */
  dueMs: number;
  status: VMDiskImageStatus;
}

/**
 * L3, bound: once the faults end, a revision that left the queue is finished within the time of retryLimit + 1 attempts, the
 * back-offs between them, a snapshot, and a sweep per step. Time in the queue does not count. An attempt that never started, and
 * an edit of the policy, restart the time. An image that adopts a snapshot has no bound.
 */
export const l3Bound: Invariant = {
  number: 'L3',
  rule: 'a sync ends within its limits',
  judge: (state, { stillFromMs, sweepMs = 30_000, endMs }) => {
    if (stillFromMs === undefined) return {};
    const syncs = new Map<string, Sync>();
    let editedMs = Number.NEGATIVE_INFINITY;
    const spentBy = ({ spentMs, sinceMs, dueMs, status }: Sync, nowMs: number) =>
      spentMs + (isActive(status) ? Math.max(0, nowMs - Math.max(sinceMs, dueMs, stillFromMs)) : 0);
    const over = (sync: Sync, nowMs: number) => {
      const [spentMs, boundMs] = [spentBy(sync, nowMs), boundOf(state.policies.now, sweepMs)];
      return spentMs > boundMs ? `has been in progress for ${spentMs} ms, expected at most ${boundMs} ms` : undefined;
    };
    const take = (uid: string, status: VMDiskImageStatus, sinceMs: number, dueMs = sinceMs) =>
      syncs.set(uid, { spentMs: 0, sinceMs, dueMs, status });
    for (const [uid, { status }] of state.images) if (status) take(uid, status, Number.NEGATIVE_INFINITY);
    return {
      policy: ({ change }) => {
        editedMs = change.atMs;
        for (const [uid, { status }] of syncs) take(uid, status, change.atMs, dueOf(status));
        return undefined;
      },
      image: ({ object, change, isGone }) => {
        const { metadata, status } = object;
        const sync = syncs.get(metadata.uid);
        if (isGone || !status?.phase || metadata.deletionTimestamp || isAdopting(object)) {
          syncs.delete(metadata.uid);
          return undefined;
        }
        const isUnstarted = sync && (status.attempts ?? 0) < (sync.status.attempts ?? 0);
        if (!sync || status.revision !== sync.status.revision || isUnstarted) take(metadata.uid, status, change.atMs);
        else {
          // A reconcile that read the policy before its edit still follows it.
          const dueMs = change.atMs - editedMs < longestReconcileMs ? (dueOf(status) ?? sync.dueMs) : sync.dueMs;
          syncs.set(metadata.uid, { spentMs: spentBy(sync, change.atMs), sinceMs: change.atMs, dueMs, status });
        }
        const message = sync && over(sync, change.atMs);
        return message && `${metadata.name} ${message}`;
      },
      end: () =>
        [...syncs].flatMap(([uid, sync]) => {
          const message = over(sync, endMs);
          return message ? [`${state.images.get(uid)?.metadata.name ?? uid} ${message}`] : [];
        }),
    };
  },
};

const isActive = ({ phase }: VMDiskImageStatus) =>
  phase === 'Syncing' || phase === 'Snapshotting' || phase === 'Retrying';

/** When its next attempt is due, in milliseconds since the epoch; undefined if it waits for none. */
const dueOf = ({ phase, nextAttemptAt }: VMDiskImageStatus) =>
  phase === 'Retrying' && nextAttemptAt ? Date.parse(nextAttemptAt) : undefined;

function boundOf(policy: Policy, sweepMs: number): number {
  const { retryLimit, startTimeout, syncTimeout, snapshotTimeout } = policy.values;
  const attempts = retryLimit + 1;
  let waitsMs = 0;
  for (let failed = 1; failed <= retryLimit; failed++) waitsMs += backoffMs(failed, policy);
  const stepMs = sweepMs + longestReconcileMs;
  return attempts * (Math.max(startTimeout, syncTimeout) + 2 * stepMs) + snapshotTimeout + 2 * stepMs + waitsMs;
}
