import { type Action, requeueNamed } from '../../../shared/actions.ts';
import type { AttemptFailure } from '../../../shared/images/failure-reasons.ts';
import { updateWhy } from '../../../shared/images/status.ts';
import { isBlocked } from '../../../shared/images/stopped.ts';
import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { referenceOf } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import type { Policy } from '../../../shared/policy.ts';
import { sentence } from '../../../shared/sentence.ts';
import { limitPassed } from '../time-limit.ts';
import type { Failure } from './failure.ts';
import { reportBlocked } from './progress.ts';

interface Clone {
  nowMs: number;
  image: VMDiskImage;
  policy: Policy;
  dataVolume: DataVolume | undefined;
}

/** The attempt is a clone of the snapshot of another image. It has no importer, and downloads nothing. */
export const isClone = ({ status }: VMDiskImage) => status?.sharedFrom !== undefined;

/**
 * Why a clone is given up: the next attempt downloads, so none of this is final, nor counted. A snapshot that CDI does not find, or an
 * error of its populator, may be over within a second; so it has to last (containerized-data-importer, pkg/controller/clone/planner.go).
 */
export function cloneFailureOf(clone: Clone): Failure | undefined {
  const { nowMs, image, dataVolume } = clone;
  const { phase = '' } = dataVolume?.status ?? {};
  const trouble = troubleOf(dataVolume);
  const sinceMs = Date.parse(image.status?.startedAt ?? dataVolume?.metadata.creationTimestamp ?? '');
  if (phase === 'Failed') return given('DataVolumeFailed', trouble?.message || 'CDI gave the DataVolume up.');
  const lastedMs = nowMs - (Date.parse(trouble?.lastTransitionTime ?? '') || sinceMs);
  if (trouble && errors.has(trouble.reason) && lastedMs >= longestErrorMs)
    return given('CloneFailed', `${trouble.reason}: ${trouble.message}`);
  const found = trouble ? `; CDI says: ${trouble.reason}: ${trouble.message}` : '';
  const unbegun = notBegun.has(phase) && limitPassed(clone, 'startTimeout', sinceMs);
  if (unbegun) return given('NotStarted', `No clone within ${unbegun}${found}.`);
  const undone = limitPassed(clone, 'syncTimeout', sinceMs);
  return undone ? given('SyncTimeout', `Not cloned within ${undone}${found}.`) : undefined;
}

const given = (reason: AttemptFailure, why: string): Failure => ({
  reason,
  message: `It was not cloned from the image of the same content, and is downloaded instead. ${why}`,
  isFinal: false,
  isUncounted: true,
});

const longestErrorMs = 10_000;
const errors = new Set(['CloneWithoutSource', 'CloneValidationFailed', 'Error', 'ImagePullFailed', 'ClaimLost']);
const waits = new Set(['ErrExceededQuota', 'ErrClaimNotValid', 'Unschedulable']);

/** The phases of a DataVolume before its clone begins. */
const notBegun = new Set(['', 'Pending', 'PVCBound', 'PendingPopulation', 'CloneScheduled']);

/** What CDI says is in the way of the clone. */
function troubleOf(dataVolume: DataVolume | undefined) {
  const conditions = ['Bound', 'Running'].map((type) => conditionOf(dataVolume?.status?.conditions, type));
  return conditions.find((one) => one?.status === 'False' && (errors.has(one.reason) || waits.has(one.reason)));
}

/** Reports what is in the way of the clone while it lasts, and that it is out of the way. */
export function cloneProgress(image: VMDiskImage, dataVolume: DataVolume, nowMs: number): Action[] {
  const trouble = troubleOf(dataVolume);
  const from = `Being cloned from the snapshot of VMDiskImage ${image.status?.sharedFrom?.image}.`;
  if (!trouble) return isBlocked(image) ? updateWhy(image, { reason: 'SyncStarted', message: from, nowMs }) : [];
  const written = reportBlocked(image, `${from} CDI says: ${sentence(`${trouble.reason}: ${trouble.message}`)}`, nowMs);
  // Nothing reports that it lasts.
  return written.length === 0 ? [] : [...written, requeueNamed(VMDiskImage, referenceOf(image), longestErrorMs)];
}
