import { adopteeOf, isAdopting } from '../../../shared/images/adoption.ts';
import { dataVolumeName } from '../../../shared/images/children.ts';
import { contentDigest } from '../../../shared/images/content-digest.ts';
import { isSourceReplaced } from '../../../shared/images/refresh.ts';
import {
  attemptLabel,
  contentAnnotation,
  imageUidLabel,
  isFinished,
  isOfAnotherVersion,
  revisionLabel,
  type VMDiskImage,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import type { Gathered } from '../observed.ts';

/** A wanted content of an image that its status does not have yet. */
interface NewRevision {
  why: string;
  /** The VolumeSnapshot to adopt instead of a download. */
  adopt?: string;
}

/** The content that is wanted now, if it differs from that of the status. */
export function newRevision(image: VMDiskImage): NewRevision | undefined {
  const { status } = image;
  if (!status?.phase || isOfAnotherVersion(image)) return undefined;
  const adopt = adopteeOf(image);
  if (adopt !== undefined && adopt !== status.adoption?.snapshot)
    return { why: 'Its annotation names a snapshot to adopt.', adopt };
  const isOther = status.contentDigest !== contentDigest(image);
  if (isAdopting(image)) {
    if (adopt === undefined) return { why: 'The annotation that named a snapshot to adopt is gone.' };
    // A user who makes the spec fit the snapshot wants no download.
    return isOther ? { why: 'The spec or the requested sync changed.', adopt } : undefined;
  }
  if (isRestored(image))
    return { why: 'It was restored from a backup, and the volume its status names is not its own.' };
  if (isOther) return { why: 'The spec or the requested sync changed.' };
  if (isSourceReplaced(image)) return { why: 'The object at its url changed.' };
  return isLostInUse(status) ? { why: 'The snapshot is lost and the image is in use.' } : undefined;
}

/** The status is from another image of this name, so the snapshot that it waits for never comes. */
function isRestored({ metadata, status }: VMDiskImage): boolean {
  const { phase, dataVolume, snapshottingAt, revision = 1, attempt = 0 } = status ?? {};
  const isAtSnapshot = phase === 'Snapshotting' || (phase === 'Failed' && snapshottingAt !== undefined);
  return isAtSnapshot && dataVolume !== undefined && dataVolume !== dataVolumeName(metadata, revision, attempt);
}

function isLostInUse(status: NonNullable<VMDiskImage['status']>): boolean {
  const isLost = conditionOf(status.conditions, 'SnapshotLost')?.status === 'True';
  // One download for each snapshot that was lost: a revision that was made for it and failed asks for no other.
  const isLatest = status.snapshot?.revision === status.revision;
  return isLost && isFinished(status.phase) && isLatest && (status.references?.count ?? 0) > 0;
}

/**
 * Restores attempt and revision of a wiped or invalid status from the existing objects, so that no attempt is lost and no revision
 * used twice. A revision is over if it has a snapshot, which would be mistaken for that of a further download, or if its download is of
 * another content than the spec asks for now.
 */
export function newestAttempt(
  image: VMDiskImage,
  { dataVolumes, snapshots }: Pick<Gathered, 'dataVolumes' | 'snapshots'>,
) {
  const own = <T extends KubernetesObject>(objects: readonly T[]) =>
    objects.filter(({ metadata }) => metadata.labels?.[imageUidLabel] === image.metadata.uid);
  const [newest = { revision: 1, attempt: 0, content: undefined }] = own(dataVolumes)
    .map(({ metadata: { labels = {}, annotations } }) => ({
      revision: Number(labels[revisionLabel]) || 1,
      attempt: Number(labels[attemptLabel]) || 0,
      content: annotations?.[contentAnnotation],
    }))
    .sort((a, b) => b.revision - a.revision || b.attempt - a.attempt);
  const over = Math.max(0, ...own(snapshots).map(({ metadata }) => Number(metadata.labels?.[revisionLabel]) || 0));
  if (over >= newest.revision) return { revision: over + 1, attempt: 0 };
  const isOther = newest.content !== undefined && newest.content !== contentDigest(image);
  return isOther ? { revision: newest.revision + 1, attempt: 0 } : newest;
}
