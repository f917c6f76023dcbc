import type { DataVolume } from '../kinds/cdi/data-volume.ts';
import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { dataVolumeName } from '../kubernetes/names.ts';
import { contentDigest } from './content-digest.ts';

/**
 * The image Failed because of its snapshot, the volume exists, and only the annotation sync-requested changed since: the snapshot is
 * created again without a download.
 */
export function isSnapshotAsked(image: VMDiskImage, dataVolumes: readonly DataVolume[]): boolean {
  const { phase, snapshottingAt, contentDigest: served, syncRequested, revision = 1, attempt = 1 } = image.status ?? {};
  if (phase !== 'Failed' || snapshottingAt === undefined) return false;
  if (served === contentDigest(image) || served !== contentDigest(image, syncRequested ?? null)) return false;
  const name = dataVolumeName(image.metadata, revision, attempt);
  const volume = dataVolumes.find(({ metadata }) => metadata.name === name && !metadata.deletionTimestamp);
  return volume?.status?.phase === 'Succeeded';
}
