import type { DataVolume } from '../kinds/cdi/data-volume.ts';
import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { dataVolumeName } from '../kubernetes/names.ts';
import { contentDigest } from './content-digest.ts';

/**
 * The image Failed because of its snapshot, the volume exists, and only the annotation sync-requested changed since: the snapshot is
 * created again without a download.
 */
export function isSnapshotAsked(image: VMDiskImage, dataVolumes: readonly DataVolume[]): boolean {
  const { phase, snapshottingAt, contentDigest: served, syncRequested } = image.status ?? {};
  if (phase !== 'Failed' || snapshottingAt === undefined) return false;
  if (served === contentDigest(image) || served !== contentDigest(image, syncRequested ?? null)) return false;
  return hasFinishedVolume(image, dataVolumes);
}

/** The volume of the image's newest attempt exists and holds the whole download, whatever a user made of the status. */
export function hasFinishedVolume({ metadata, status }: VMDiskImage, dataVolumes: readonly DataVolume[]): boolean {
  const name = dataVolumeName(metadata, status?.revision ?? 1, status?.attempt ?? 1);
  const volume = dataVolumes.find((one) => one.metadata.name === name && !one.metadata.deletionTimestamp);
  return volume?.status?.phase === 'Succeeded';
}
