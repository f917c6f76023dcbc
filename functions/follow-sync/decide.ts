import type { Action } from '../../shared/actions.ts';
import { isAdopting } from '../../shared/images/adoption.ts';
import { currentName } from '../../shared/images/current-volume.ts';
import { whyPrunable } from '../../shared/images/pruning.ts';
import { afterwards, publish } from '../../shared/images/status.ts';
import { attemptLabel, isOfAnotherVersion, revisionLabel } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { cloneFailureOf, cloneProgress, isClone } from './attempt/clone.ts';
import { failureOf } from './attempt/failure.ts';
import { progressOf } from './attempt/progress.ts';
import { garbage, garbageVolumes, remove } from './garbage.ts';
import { isDownloaded, type Observed } from './observed.ts';
import { useRevision } from './revision/use-revision.ts';
import { adopting } from './snapshot/adopting.ts';
import { offering } from './snapshot/data-source.ts';
import { disown } from './snapshot/disown.ts';
import { healing } from './snapshot/healing.ts';
import { checkSnapshot, makeSnapshot, snapshotting } from './snapshot/snapshotting.ts';
import { downloaded, failed } from './status.ts';

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
  return [...step, ...(isDone ? garbageVolumes({ ...observed, image: next }) : garbage(observed))];
}

function stepOf(observed: Observed): Action[] {
  if (isAdopting(observed.image)) return adopting(observed);
  const phase = observed.image.status?.phase;
  if (phase === 'Syncing') return syncing(observed);
  if (phase === 'Snapshotting') return snapshotting(observed);
  return phase === 'Failed' ? healing(observed) : checkSnapshot(observed);
}

function syncing(observed: Observed): Action[] {
  const { image, dataVolumes, nowMs } = observed;
  const dataVolume = dataVolumes.find(({ metadata }) => metadata.name === currentName(image));
  const isDone = isDownloaded(dataVolume);
  // A finished download is paid for: neither a deadline nor a lingering Pod discards it.
  const attempt = { ...observed, dataVolume, pods: podsOf(observed) };
  const isCloned = isClone(image);
  const failure = isDone ? undefined : isCloned ? cloneFailureOf(attempt) : failureOf(attempt);
  if (failure) return [...failed(observed, failure), ...(dataVolume ? [remove(image, dataVolume)] : [])];
  if (!dataVolume) return [];
  if (isDone) return [...downloaded(observed, dataVolume), ...makeSnapshot(image, dataVolume)];
  return isCloned ? cloneProgress(image, dataVolume, nowMs) : progressOf(image, dataVolume, attempt.pods, nowMs);
}

const podsOf = ({ pods, image }: Observed) =>
  pods.filter(
    (pod) =>
      pod.metadata.labels?.[revisionLabel] === String(image.status?.revision) &&
      pod.metadata.labels?.[attemptLabel] === String(image.status?.attempt),
  );
