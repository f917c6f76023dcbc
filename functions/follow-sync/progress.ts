import type { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import type { Pod } from '../../shared/resources/core/pod.ts';
import { type VMDiskImage, VMDiskImage as VMDiskImageKind } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { traceOf } from '../../shared/rules/image-status.ts';
import { hasScratch } from './failure.ts';

/** A percentage is written again when it has moved by this much. */
const stepPercent = 5;

/**
 * What is new about a running attempt: which importer is at work (another one in its place is a second download; and from
 * then on a DataVolume that is not there was deleted by somebody), and how far it is.
 */
export function progressOf(image: VMDiskImage, dataVolume: DataVolume, pods: readonly Pod[]): Action[] {
  const { status } = image;
  const pod = pods.find((found) => found.status?.phase === 'Running' && !found.metadata.deletionTimestamp);
  const importer = pod && { uid: pod.metadata.uid, scratch: hasScratch(pod) };
  const isOtherImporter = importer !== undefined && importer.uid !== status?.importer?.uid;
  const progress = progressText(dataVolume.status?.progress);
  const isFurther = progress !== undefined && hasMoved(status?.progress, progress);
  const isSeen = status?.dataVolume === dataVolume.metadata.name;
  if (!isOtherImporter && !(isSeen && isFurther)) return [];
  const fields = {
    dataVolume: dataVolume.metadata.name,
    ...(importer ? { importer } : {}),
    ...(progress === undefined ? {} : { progress }),
  };
  return [{ do: 'patchStatus', resource: VMDiskImageKind, of: image, status: fields, trace: traceOf(image) }];
}

/** CDI writes "45.52%"; people need no hundredths. */
const progressText = (progress: string | undefined) => {
  if (progress === undefined || progress === 'N/A') return progress;
  const percent = Number.parseFloat(progress);
  return Number.isFinite(percent) ? `${Math.floor(percent)}%` : undefined;
};

function hasMoved(before: string | undefined, after: string): boolean {
  if (before === undefined || after === 'N/A') return before !== after && before === undefined;
  const from = Number.parseFloat(before);
  return !Number.isFinite(from) || Number.parseFloat(after) - from >= stepPercent;
}
