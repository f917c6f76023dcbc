import { useRevision, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import { isAdopting } from './adoption.ts';
import { snapshotName } from './children.ts';
import { whyPrunable } from './pruning.ts';

/**
 * Whether a change of the image itself may ask something of its attempts and snapshots. While it goes its plain way, from the queue to its
 * first snapshot, only what happens to its DataVolume and its snapshot does.
 */
export function isUnsettled(image: VMDiskImage): boolean {
  const { phase, attempt = 0 } = image.status ?? {};
  if (whyPrunable(image) !== undefined || isRevisionAsked(image)) return true;
  if (phase === undefined) return false;
  if (!isFirst(image)) return true;
  if (phase === 'Queued') return attempt > 0;
  if (phase === 'Syncing') return false;
  return phase === 'Snapshotting' ? !isRequested(image) : phase !== 'Succeeded' || !isComplete(image);
}

/** An annotation asks for a revision, or asked for one. */
export const isRevisionAsked = ({ metadata, status }: VMDiskImage) =>
  metadata.annotations?.[useRevision] !== undefined || conditionOf(status?.conditions, 'RevisionPinned') !== undefined;

/** Of a later revision or attempt, a DataVolume of an earlier one may be left. */
export const isFirst = (image: VMDiskImage) =>
  (image.status?.revision ?? 1) === 1 && (image.status?.attempt ?? 0) <= 1 && !isAdopting(image);

/** Its snapshot was created right after its phase was written. A wait that begins again, for another reason, begins with the next event. */
export const isRequested = ({ status }: VMDiskImage) =>
  ['Downloaded', 'Cloned'].includes(conditionOf(status?.conditions, 'Ready')?.reason ?? '');

/** It is Ready from the one snapshot that was ever taken for it. */
const isComplete = ({ metadata, status }: VMDiskImage) =>
  status?.snapshot?.name === snapshotName(metadata, 1) &&
  status.revisions?.length === 1 &&
  conditionOf(status.conditions, 'Ready')?.status === 'True';
