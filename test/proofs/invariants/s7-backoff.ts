import { attemptLabel, imageUidLabel, type VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, Step } from './follow.ts';
import { backoffMs } from './plain-rules.ts';
import { policiesOf } from './reconcile.ts';

export const usualSkewMs = 5000;

/**
 * S7, back-off: follow-sync sets nextAttemptAt to the failure plus the back-off; start-sync queues the image no earlier than that
 * (by its own clock, recorded in queuedAt); and the recorder sees the next DataVolume no earlier than the back-off after the
 * failure, minus the clock skew.
 */
export const s7Backoff: Invariant = {
  number: 'S7',
  rule: 'the next attempt waits for the back-off of the failed one',
  judge: (_, { skewMs = usualSkewMs }) => {
    const waits = new Map<string, { failedMs: number; waitMs: number; attempt: string }>();
    return {
      image: (step) => {
        const { uid } = step.object.metadata;
        const [before, status] = [step.before?.status, step.object.status];
        // After a status was wiped, no one knows how long to wait.
        if (step.isGone || !status?.phase) waits.delete(uid);
        if (step.isGone || !before?.phase || !status) return undefined;
        if (status.revision !== before.revision || status.phase === 'Snapshotting') waits.delete(uid);
        else if (before.phase === 'Syncing' && status.phase === 'Retrying') {
          const waitMs = leastWaitOf(step, status);
          waits.set(uid, {
            failedMs: Math.min(step.change.atMs, decidedMs(status) || step.change.atMs),
            waitMs,
            attempt: String(status.attempt),
          });
          return tooSoon(status, waitMs);
        } else if (before.phase === 'Retrying' && status.phase === 'Queued') {
          const wait = waits.get(uid);
          // If a user removed nextAttemptAt, start-sync computes it again by the present policy.
          if (wait && before.nextAttemptAt === undefined)
            waits.set(uid, { ...wait, waitMs: Math.min(wait.waitMs, leastWaitOf(step, before)) });
          return early(before, status);
        }
        return undefined;
      },
      download: ({ object: { metadata }, before, isGone, change }) => {
        const wait = waits.get(metadata.labels?.[imageUidLabel] ?? '');
        // A late DataVolume of the attempt that has just ended is not the next attempt: follow-sync deletes it.
        if (before || isGone || !wait || metadata.labels?.[attemptLabel] === wait.attempt) return undefined;
        waits.delete(metadata.labels?.[imageUidLabel] ?? '');
        const waitedMs = change.atMs - wait.failedMs;
        if (waitedMs >= wait.waitMs - skewMs) return undefined;
        return `DataVolume ${metadata.name} came ${waitedMs} ms after a failure, expected at least ${wait.waitMs} ms`;
      },
    };
  },
};

/** The shortest back-off by any policy that the reconcile may have read. */
const leastWaitOf = (step: Step, { attempt = 1 }: VMDiskImageStatus) =>
  Math.min(...policiesOf(step).map((policy) => backoffMs(attempt, policy)));

/** The newest entry of the history has the time of the reconcile, in whole seconds; the write itself may come later. */
const decidedMs = ({ history }: Pick<VMDiskImageStatus, 'history'>) => Date.parse(history?.at(-1)?.time ?? '');

function tooSoon({ nextAttemptAt = '', history }: VMDiskImageStatus, waitMs: number) {
  const plannedMs = Date.parse(nextAttemptAt) - decidedMs({ history });
  if (!(plannedMs < waitMs)) return undefined;
  return `the next attempt is planned ${plannedMs} ms after the failure, expected ${waitMs} ms`;
}

function early({ nextAttemptAt = '' }: VMDiskImageStatus, { queuedAt = '' }: VMDiskImageStatus) {
  if (!(Date.parse(queuedAt) < Date.parse(nextAttemptAt))) return undefined;
  return `queued again at ${queuedAt}, the next attempt was due at ${nextAttemptAt}`;
}
