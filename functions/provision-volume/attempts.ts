import type { Action } from '../../shared/actions.ts';
import { backoffMs } from '../../shared/backoff.ts';
import type { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import type { OpenStackRequest } from '../../shared/kinds/openstack/request.ts';
import type { StatusReport } from '../../shared/kubernetes/status.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { callsFor, cloudReady } from '../../shared/openstack/status.ts';
import { type Reason, repeated } from '../../shared/reasons/reason.ts';
import type { Observed } from './observed.ts';
import { statusBefore, updateStatus } from './status.ts';

/** All that the policy's retryLimit allows have failed. */
export const isSpent = ({ volume, policy }: Observed) => (volume.status?.attempts ?? 0) > policy.values.retryLimit;

/** The next attempt is not due yet. */
export const waitsForNext = ({ volume, nowMs }: Observed) =>
  volume.status?.nextAttemptAt !== undefined && Date.parse(volume.status.nextAttemptAt) > nowMs;

/**
 * Writes down that an attempt failed, then deletes what it left: a crash in between is told apart from another failure by the id
 * of what failed. Retried with the policy's back-off as downloads of disk images are, at most retryLimit times.
 */
export function failedAttempt(
  observed: Observed,
  failed: { id: string },
  reason: Reason,
  what: string,
  garbage: readonly OpenStackRequest[],
): Action[] {
  const { volume, policy, nowMs, refusals } = observed;
  const isWritten = volume.status?.failed === failed.id;
  const attempts = (volume.status?.attempts ?? 0) + 1;
  const isLast = attempts > policy.values.retryLimit;
  const { retryBackoffDuration, maxRetryBackoffDuration } = policy.values;
  const waitMs = backoffMs(attempts, retryBackoffDuration, maxRetryBackoffDuration);
  const failure = { reason, message: what };
  const fields = { attempts, failed: failed.id, failure, nextAttemptAt: isLast ? undefined : toTime(nowMs + waitMs) };
  const report = reportAfter(volume, { ...statusBefore(volume), ...fields });
  return [...(isWritten ? [] : updateStatus(observed, report)), ...callsFor(volume, garbage, refusals)];
}

/** The state of a volume whose last attempt failed; reported again after OpenStack was unreachable. */
export function reportAfter(
  volume: Volume,
  fields: ReturnType<typeof statusBefore> = statusBefore(volume),
): StatusReport {
  const { attempts = 0, failure, nextAttemptAt } = fields;
  const { reason = 'AttemptFailed', message: what = 'The volume could not be made' } = failure ?? {};
  const isLast = nextAttemptAt === undefined;
  return {
    phase: isLast ? 'Failed' : 'Pending',
    isReady: false,
    reason: repeated(reason),
    message: isLast
      ? `${what}, ${attempts} times: it is not tried again. Fix the image and create the volume again.`
      : `${what}; it is tried again at ${nextAttemptAt}.`,
    conditions: [cloudReady],
    fields: { ...fields, id: undefined, ready: false },
  };
}
