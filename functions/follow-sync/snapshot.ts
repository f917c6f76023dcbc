import type { VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import { childMetadata } from '../../shared/rules/child.ts';
import { snapshotName } from '../../shared/rules/names.ts';

/** The snapshot of a revision, cut from the claim of the attempt that downloaded it (a DataVolume's claim has its name). */
export const snapshotFor = (image: VMDiskImage, revision: number, claim: string) => ({
  apiVersion: VolumeSnapshot.apiVersion,
  kind: VolumeSnapshot.kind,
  metadata: childMetadata(image, snapshotName(image.metadata, revision), revision),
  spec: { volumeSnapshotClassName: image.spec.snapshotClass, source: { persistentVolumeClaimName: claim } },
});
