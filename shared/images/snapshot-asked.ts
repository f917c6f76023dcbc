import type { DataVolume } from '../kinds/cdi/data-volume.ts';
import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { contentDigest } from './content-digest.ts';
import { hasFinishedVolume } from './current-volume.ts';

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
