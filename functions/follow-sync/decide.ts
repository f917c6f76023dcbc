import type { Action } from '../../shared/actions.ts';
import { backoffMs } from '../../shared/backoff.ts';
import { isAdopting } from '../../shared/images/adoption.ts';
import { attemptEnd } from '../../shared/images/attempt-end.ts';
import { currentName } from '../../shared/images/current-volume.ts';
import { refusals } from '../../shared/images/failure-reasons.ts';
import { isUnreachable } from '../../shared/images/inspection.ts';
import { whyPrunable } from '../../shared/images/pruning.ts';
import { afterwards, publish, transition } from '../../shared/images/status.ts';
import {
  attemptLabel,
  isOfAnotherVersion,
  requestDownload,
  revisionLabel,
  type VMDiskImage,
} from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { formatTimeOfDay, toMicroTime, toTime } from '../../shared/kubernetes/time.ts';
import { isValid } from '../../shared/policy.ts';
import type { Reason } from '../../shared/reasons/reason.ts';
import { rowOf } from '../../shared/reasons/table.ts';
import { sentence } from '../../shared/sentence.ts';
import { cloneFailureOf, cloneProgress, isClone } from './attempt/clone.ts';
import { type Failure, failureOf } from './attempt/failure.ts';
import { progressOf } from './attempt/progress.ts';
import { garbage, leftOverVolumes, remove } from './garbage.ts';
import { isDownloaded, type Observed } from './observed.ts';
import { useRevision } from './revision/use-revision.ts';
import { adopting } from './snapshot/adopting.ts';
import { offering } from './snapshot/data-source.ts';
import { disown } from './snapshot/disown.ts';
import { healing } from './snapshot/healing.ts';
import { checkSnapshot, describeWait, makeSnapshot, snapshotting } from './snapshot/snapshotting.ts';

/**
 * Follows an attempt to its end: the status (cause, attempts, next attempt) is written before anything is deleted, so that no evidence is
 * lost. A DataVolume of another attempt is deleted on sight. For an image that is being deleted only a lost snapshot is reported: a
 * machine that waits for that snapshot must not retain the image.
 */
export function decide(observed: Observed): Action[] {
  const { image } = observed;
  const common = [...disown(observed), ...publishPrunable(observed)];
  if (image.metadata.deletionTimestamp) return [...common, ...checkSnapshot(observed)];
  if (isOfAnotherVersion(image)) return common;
  const used = useRevision(observed);
  const step = used.length > 0 ? used : stepAndGarbage(observed);
  return [...common, ...step, ...offering(observed, step)];
}

/** Notifies prune, which receives no other event of images: most of them change often and are not to be pruned. */
function publishPrunable({ image, isNamed, nowMs }: Observed): Action[] {
  const reason = whyPrunable(image);
  if (!isNamed || reason === undefined) return [];
  return [{ ...publish(image, 'prunable', image.status?.revision ?? 0, toTime(nowMs), { reason }), about: image }];
}

/** The volume that an image needs no more once it is Succeeded is deleted with that, not by the event of it. */
function stepAndGarbage(observed: Observed): Action[] {
  const step = stepOf(observed);
  const next = afterwards(observed.image, step);
  const isDone = next.status?.phase === 'Succeeded' && observed.image.status?.phase !== 'Succeeded';
  return [...step, ...(isDone ? leftOverVolumes({ ...observed, image: next }) : garbage(observed))];
}

function stepOf(observed: Observed): Action[] {
  if (isAdopting(observed.image)) return adopting(observed);
  const phase = observed.image.status?.phase;
  if (phase === 'Syncing') return syncing(observed);
  if (phase === 'Snapshotting') return snapshotting(observed);
  return phase === 'Failed' ? healing(observed) : checkSnapshot(observed);
}

function syncing(observed: Observed): Action[] {
  const { image, dataVolumes, nowMs, policy } = observed;
  const dataVolume = dataVolumes.find(({ metadata }) => metadata.name === currentName(image));
  const isDone = isDownloaded(dataVolume);
  // A finished download is paid for: neither a deadline nor a lingering Pod discards it.
  const attempt = { ...observed, dataVolume, pods: podsOf(observed) };
  const isCloned = isClone(image);
  const failure = isDone ? undefined : isCloned ? cloneFailureOf(attempt) : failureOf(attempt);
  if (failure) return [...failed(observed, failure), ...(dataVolume ? [remove(image, dataVolume)] : [])];
  if (!dataVolume) return [];
  if (isDone) {
    const reason = isCloned ? 'Cloned' : 'Downloaded';
    return [
      ...transition(image, {
        to: 'Snapshotting',
        reason,
        message: describeWait(image),
        nowMs,
        fields: { progress: '100%', dataVolume: dataVolume.metadata.name, snapshottingAt: toTime(nowMs) },
      }),
      ...attemptEnd(image, { result: 'success', reason, nowMs, policy }),
      ...makeSnapshot(image, dataVolume),
    ];
  }
  return isCloned ? cloneProgress(image, dataVolume, nowMs) : progressOf(image, dataVolume, attempt.pods, nowMs);
}

function failed({ image, policy, nowMs }: Observed, failure: Failure): Action[] {
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

const podsOf = ({ pods, image }: Observed) =>
  pods.filter(
    (pod) =>
      pod.metadata.labels?.[revisionLabel] === String(image.status?.revision) &&
      pod.metadata.labels?.[attemptLabel] === String(image.status?.attempt),
  );
