import { attemptLabel, imageUidLabel, type VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, Step } from './follow.ts';
import { policiesOf } from './pass.ts';
import { backoffMs } from './plain-rules.ts';

/** The default of `skewMs`. */
export const usualSkewMs = 5000;

/**
 * S7, back-off: the time that follow-sync sets for the next attempt is the back-off after the failure (one clock); start-sync
 * queues the image again not before that time (by its own clock, which it writes down as queuedAt); and from the failure to
 * the next DataVolume the recorder, too, sees the back-off pass, less the skew of the clocks (reliability §2).
 */
export const s7Backoff: Invariant = {
  number: 'S7',
  says: 'a failed attempt is followed by its back-off',
  judge: (_, { skewMs = usualSkewMs }) => {
    const waits = new Map<string, { failedMs: number; waitMs: number; attempt: string }>();
    return {
      image: (step) => {
        const { uid } = step.object.metadata;
        const [before, status] = [step.before?.status, step.object.status];
        // Of a status that somebody wiped nobody knows how long to wait.
        if (step.isGone || !status?.phase) waits.delete(uid);
        if (step.isGone || !before?.phase || !status) return undefined;
        if (status.revision !== before.revision || status.phase === 'Snapshotting') waits.delete(uid);
        else if (before.phase === 'Syncing' && status.phase === 'Retrying') {
          const waitMs = leastWaitOf(step, status);
          waits.set(uid, {
            failedMs: Math.min(step.change.atMs, saidMs(status) || step.change.atMs),
            waitMs,
            attempt: String(status.attempt),
          });
          return tooSoon(status, waitMs);
        } else if (before.phase === 'Retrying' && status.phase === 'Queued') {
          const wait = waits.get(uid);
          // Taken out by a hand, it is found again by the policy of now.
          if (wait && before.nextAttemptAt === undefined)
            waits.set(uid, { ...wait, waitMs: Math.min(wait.waitMs, leastWaitOf(step, before)) });
          return early(before, status);
        }
        return undefined;
      },
      download: ({ object: { metadata }, before, isGone, change }) => {
        const wait = waits.get(metadata.labels?.[imageUidLabel] ?? '');
        // One of the attempt that has just ended, late, is no next attempt: it is deleted on sight.
        if (before || isGone || !wait || metadata.labels?.[attemptLabel] === wait.attempt) return undefined;
        waits.delete(metadata.labels?.[imageUidLabel] ?? '');
        const waitedMs = change.atMs - wait.failedMs;
        if (waitedMs >= wait.waitMs - skewMs) return undefined;
        return `DataVolume ${metadata.name} came ${waitedMs} ms after a failure, expected at least ${wait.waitMs} ms`;
      },
    };
  },
};

/** The shortest back-off by any policy that the pass may have read. */
const leastWaitOf = (step: Step, { attempt = 1 }: VMDiskImageStatus) =>
  Math.min(...policiesOf(step).map((policy) => backoffMs(attempt, policy)));

/** The time of the newest fact is that of the pass, in whole seconds: the write itself may have taken its time. */
const saidMs = ({ history }: Pick<VMDiskImageStatus, 'history'>) => Date.parse(history?.at(-1)?.time ?? '');

function tooSoon({ nextAttemptAt = '', history }: VMDiskImageStatus, waitMs: number) {
  const plannedMs = Date.parse(nextAttemptAt) - saidMs({ history });
  if (!(plannedMs < waitMs)) return undefined;
  return `the next attempt is planned ${plannedMs} ms after the failure, expected ${waitMs} ms`;
}

function early({ nextAttemptAt = '' }: VMDiskImageStatus, { queuedAt = '' }: VMDiskImageStatus) {
  if (!(Date.parse(queuedAt) < Date.parse(nextAttemptAt))) return undefined;
  return `queued again at ${queuedAt}, the next attempt was due at ${nextAttemptAt}`;
}
