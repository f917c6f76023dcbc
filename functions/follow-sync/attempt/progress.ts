import type { Action } from '../../../shared/actions.ts';
import { explained, patchStatus, reportWhy, updateWhy } from '../../../shared/images/status.ts';
import { isBlocked } from '../../../shared/images/stopped.ts';
import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import { sentence } from '../../../shared/sentence.ts';
import { describeCertificates, hasScratch, waitingSince, waitsForScratch } from './failure.ts';

/** A percentage is written again when it has moved by this much. */
const stepPercent = 5;

/**
 * What is new about a running attempt: which importer is at work (another one in its place is a second download; and from
 * then on a missing DataVolume was deleted), and how far it is.
 */
export function progressOf(image: VMDiskImage, dataVolume: DataVolume, pods: readonly Pod[], nowMs: number): Action[] {
  const { status } = image;
  const pod = pods.find((found) => found.status?.phase === 'Running' && !found.metadata.deletionTimestamp);
  const importer = pod && { uid: pod.metadata.uid, scratch: hasScratch(pod) };
  const isOtherImporter = importer !== undefined && importer.uid !== status?.importer?.uid;
  const progress = progressText(dataVolume.status?.progress);
  const isFurther = progress !== undefined && hasMoved(status?.progress, progress);
  const isSeen = status?.dataVolume === dataVolume.metadata.name;
  if (!isOtherImporter && !(isSeen && isFurther)) return reportWait({ image, dataVolume, pods, nowMs });
  const fields = {
    dataVolume: dataVolume.metadata.name,
    ...(importer
      ? { importer, ...explained(image, { reason: 'SyncStarted', message: downloading(image), nowMs }) }
      : {}),
    ...(progress === undefined ? {} : { progress }),
    progressAt: toTime(nowMs),
  };
  return [patchStatus(image, fields)];
}

const downloading = ({ status }: VMDiskImage) => `Downloading, attempt ${status?.attempts ?? 1}.`;

/**
 * Reports why an importer or its scratch space does not start (a Secret, a node, a quota), when the reason of CDI changes. If CDI
 * gives no reason, the wait may end by itself, and is reported only after a while.
 */
function reportWait(attempt: Waiting): Action[] {
  const { image, dataVolume, nowMs } = attempt;
  const isScratch = waitsForScratch(attempt);
  if (!isScratch && image.status?.dataVolume === dataVolume.metadata.name) return [];
  const [running, bound] = ['Running', 'Bound'].map((type) => conditionOf(dataVolume.status?.conditions, type));
  const isLong = nowMs - waitingSince(attempt) >= reportAfterMs;
  const named = [running, bound].find(
    (one) => troubles.has(one?.reason ?? '') || (isLong && one?.reason === unschedulable),
  );
  const found = named ?? (isScratch && isLong ? bound : undefined);
  const certificates = isLong ? describeCertificates(attempt) : '';
  if (!found && !certificates) return [];
  const cause = named?.reason === unschedulable ? (schedulerMessage(attempt.pods) ?? found?.message) : found?.message;
  const what = found ? ` ${sentence([named?.reason, cause].filter(Boolean).join(': '))}` : '';
  const waits = `Waiting for ${isScratch ? 'scratch space' : 'the importer'}, attempt ${image.status?.attempts ?? 1}.`;
  return reportBlocked(image, `${waits}${what}${certificates}`, nowMs);
}

/** Reports why a download or a clone cannot go on: in an Event as well the first time. */
export function reportBlocked(image: VMDiskImage, message: string, nowMs: number): Action[] {
  return (isBlocked(image) ? updateWhy : reportWhy)(image, { reason: 'SyncBlocked', message, nowMs });
}

/** The scheduler's words: CDI says no more than that the Pod cannot be scheduled. */
const schedulerMessage = (pods: readonly Pod[]) =>
  pods
    .map(({ status }) => conditionOf(status?.conditions, 'PodScheduled'))
    .find((one) => one?.status === 'False' && one.reason === unschedulable)?.message;

type Waiting = { image: VMDiskImage; dataVolume: DataVolume; pods: readonly Pod[]; nowMs: number };

const troubles = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'InvalidImageName',
  'ErrExceededQuota',
  'ErrClaimNotValid',
  'ImagePullFailed',
]);

/** An importer has no node for a moment while its claim is new. */
const unschedulable = 'Unschedulable';

/** Provisioning a volume and starting a container take less. */
const reportAfterMs = 60_000;

/** CDI writes "45.52%"; people need no hundredths. */
export const progressText = (progress: string | undefined) => {
  if (progress === undefined || progress === 'N/A') return progress;
  const percent = Number.parseFloat(progress);
  return Number.isFinite(percent) ? `${Math.floor(percent)}%` : undefined;
};

function hasMoved(before: string | undefined, after: string): boolean {
  if (before === undefined || after === 'N/A') return before !== after && before === undefined;
  const from = Number.parseFloat(before);
  return !Number.isFinite(from) || Number.parseFloat(after) - from >= stepPercent;
}

/** The progress is that of the status or a little further: less would be that of another importer. */
export const isAboutAt = (before: string | undefined, after: string | undefined) =>
  after === before ||
  (before !== undefined &&
    after !== undefined &&
    Number.parseFloat(after) >= Number.parseFloat(before) &&
    !hasMoved(before, after));
