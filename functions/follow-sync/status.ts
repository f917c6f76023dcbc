import type { Action } from '../../shared/actions.ts';
import { backoffMs } from '../../shared/backoff.ts';
import { attemptEnd } from '../../shared/images/attempt-end.ts';
import { currentVolume } from '../../shared/images/current-volume.ts';
import { refusals } from '../../shared/images/failure-reasons.ts';
import { isUnreachable } from '../../shared/images/inspection.ts';
import { patchStatus, publish, reportWhy, transition } from '../../shared/images/status.ts';
import type { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { requestDownload, type VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf, withCondition, withProgress } from '../../shared/kubernetes/conditions.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { formatTimeOfDay, toMicroTime, toTime } from '../../shared/kubernetes/time.ts';
import { lasted } from '../../shared/lasted.ts';
import { isValid } from '../../shared/policy.ts';
import type { Cause, Reason } from '../../shared/reasons/reason.ts';
import { rowOf } from '../../shared/reasons/table.ts';
import { sentence } from '../../shared/sentence.ts';
import { traceOfImage } from '../../shared/traces.ts';
import { isClone } from './attempt/clone.ts';
import type { Failure } from './attempt/failure.ts';
import type { Observed } from './observed.ts';
import { completed } from './revision/revisions.ts';
import { sinceMs } from './snapshot/snapshot.ts';

export function failed({ image, policy, nowMs }: Observed, failure: Failure): Action[] {
  const { attempts = 1, attempt = 1 } = image.status ?? {};
  const { retryLimit, retryBackoffDuration, maxRetryBackoffDuration } = policy.values;
  const counted = failure.isUncounted ? Math.max(0, attempts - 1) : attempts;
  const isSpent = isValid(policy, 'retryLimit') && !failure.isUncounted && attempts > retryLimit;
  const isUnstarted = failure.isUncounted || refusals.has(failure.reason);
  const measures = attemptEnd(image, { result: 'failure', reason: failure.reason, nowMs, policy, isUnstarted });
  if (failure.isFinal || isSpent) {
    const why = failure.isFinal
      ? 'Not tried again'
      : `Given up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
    const message = `${why}: ${sentence(failure.message)} ${tryAgainAfter(failure.reason, image)}`;
    const fields = { attempts: counted, completedAt: toTime(nowMs), nextAttemptAt: null };
    return [...transition(image, { to: 'Failed', reason: failure.reason, message, nowMs, fields }), ...measures];
  }
  const waitMs = backoffMs(attempt, retryBackoffDuration, maxRetryBackoffDuration);
  const message = `${sentence(failure.message)} Next attempt at ${formatTimeOfDay(nowMs + waitMs, nowMs)}.`;
  const fields = { attempts: counted, nextAttemptAt: toMicroTime(nowMs + waitMs) };
  return [...transition(image, { to: 'Retrying', reason: failure.reason, message, nowMs, fields }), ...measures];
}

/** What starts the next attempt. Another attempt at a disk that is too small would be a second download for nothing. */
const tryAgainAfter = (reason: Reason, image: VMDiskImage): string =>
  (reason === 'DiskTooSmall' ? rowOf(reason, 'VMDiskImage')?.help : undefined) ??
  `${isUnreachable(image) ? 'Correct url if its host is wrong. ' : ''}To request another download: ${requestDownload(image.metadata)}`;

/** How the content came. */
const cameBy = (image: VMDiskImage) => (isClone(image) ? 'Cloned' : 'Downloaded');
const describeWait = (image: VMDiskImage) => `${cameBy(image)}; waiting for the snapshot.`;

/** The attempt ends here, the sync does not. */
export function downloaded({ image, nowMs, policy }: Observed, { metadata: { name } }: DataVolume): Action[] {
  const reason = cameBy(image);
  const fields = { progress: '100%', dataVolume: name, snapshottingAt: toTime(nowMs) };
  return [
    ...transition(image, { to: 'Snapshotting', reason, message: describeWait(image), nowMs, fields }),
    ...attemptEnd(image, { result: 'success', reason, nowMs, policy }),
  ];
}

export const keptUntil =
  'The volume is kept; the snapshot is retried every ten minutes, and when annotation pelotech.ot/sync-requested changes.';

/** Reports the snapshotter's error while it lasts: the snapshotter retries, and no error is final. */
export function reportError({ image, nowMs }: Observed, { status }: VolumeSnapshot): Action[] {
  if (status?.error) {
    const message = `${describeWait(image)} The snapshotter says: ${sentence(status.error.message)}`;
    return reportWhy(image, { reason: 'SnapshotError', message, nowMs });
  }
  if (conditionOf(image.status?.conditions, 'Ready')?.reason !== 'SnapshotError') return [];
  return reportWhy(image, { reason: cameBy(image), message: describeWait(image), nowMs }, 'Normal');
}

export function succeeded(observed: Observed, snapshot: VolumeSnapshot): Action[] {
  const { image, nowMs } = observed;
  const { startedAt, queuedAt } = image.status ?? {};
  const { stays, fields } = completed(observed, snapshot);
  const { name } = snapshot.metadata;
  const message = stays ? `Snapshot ${name} is ready.${stays}` : `Ready to clone from snapshot ${name}.`;
  const since = queuedAt ?? startedAt ?? '';
  return [
    ...transition(image, { to: 'Succeeded', reason: 'SnapshotReady', message, nowMs, fields }),
    lasted({ metric: 'ot.image.ready.duration', since, nowMs, trace: traceOfImage(image) }),
  ];
}

/** Sets snapshottingAt if it is missing, or start-sync would download again. */
export function snapshotFailed(observed: Observed, reason: Reason, message: string): Action[] {
  const { image, dataVolumes, nowMs } = observed;
  const snapshottingAt =
    image.status?.snapshottingAt ?? toTime(sinceMs(image, currentVolume(image, dataVolumes)) || nowMs);
  const fields = { completedAt: toTime(nowMs), snapshottingAt };
  return transition(image, { to: 'Failed', reason, message, nowMs, fields });
}

/** Whether machines can be cloned from the snapshot that the status names, in SnapshotLost and Ready. */
export function reportLost({ image, nowMs }: Observed, isLost: boolean, message: string): Action[] {
  const conditions = withLost(image, isLost, message, nowMs);
  const reason = isLost ? 'SnapshotLost' : 'SnapshotReady';
  return [
    patchStatus(image, { conditions, message }),
    recordEvent(image, isLost, reason, message, `${image.status?.snapshot?.name}/${toTime(nowMs)}`),
    ...(isLost ? [] : [publishReady(image, image.status?.snapshot?.revision ?? 1, { reason, message, nowMs })]),
  ];
}

/** Notifies the machines that wait for the image, whatever its phase: they can be cloned from this revision. */
export const publishReady = (
  image: VMDiskImage,
  revision: number,
  { nowMs, ...why }: Cause & { nowMs: number },
): Action => publish(image, 'ready', revision, toTime(nowMs), { phase: image.status?.phase, ...why });

export function withLost({ metadata, status }: VMDiskImage, isLost: boolean, message: string, nowMs: number) {
  const [now, said] = [toTime(nowMs), { message, observedGeneration: metadata.generation }];
  const reason = isLost ? 'SnapshotLost' : 'SnapshotReady';
  const lost = { type: 'SnapshotLost', status: isLost ? 'True' : 'False', reason, ...said } as const;
  const ready = { type: 'Ready', status: isLost ? 'False' : 'True', reason, ...said } as const;
  // Another revision may be under way, or have failed, while an earlier one is used.
  const before = status?.conditions ?? [];
  const others =
    status?.phase === 'Succeeded'
      ? withProgress(before, isLost ? 'Stalled' : undefined, { reason, ...said }, now)
      : before;
  return withCondition(withCondition(others, lost, now), ready, now);
}

/** Waits for a snapshot again. The same write reports a loss, because start-sync downloads a lost snapshot again if it is in use. */
export function waitAgain({ image, nowMs }: Observed, name: string, why: 'lost' | 'not ready'): Action[] {
  const isLost = why === 'lost';
  const message = `The snapshot ${name} is ${why}; waiting for ${isLost ? 'a new one' : 'one that is ready'} of the kept volume. Nothing is downloaded.`;
  const fields = { snapshottingAt: toTime(nowMs), completedAt: null };
  if (!isLost) {
    // Machines cannot be cloned from a snapshot that is not ready, so the status names none until it is.
    const without = { ...fields, snapshot: null };
    return transition(image, { to: 'Snapshotting', reason: 'SnapshotNotReady', message, nowMs, fields: without });
  }
  const known = { ...image, status: { ...image.status, conditions: withLost(image, true, message, nowMs) } };
  return transition(known, { to: 'Snapshotting', reason: 'SnapshotLost', message, nowMs, fields });
}
