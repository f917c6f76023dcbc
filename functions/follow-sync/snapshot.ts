import {
  imageUidLabel,
  managedBy,
  revisionLabel,
  type VMDiskImage,
  VMDiskImage as VMDiskImageKind,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import { snapshotName } from '../../shared/rules/names.ts';

/** The snapshot of a revision, cut from the claim of the attempt that downloaded it (a DataVolume's claim has its name). */
export function snapshotFor(image: VMDiskImage, revision: number, claim: string) {
  const { metadata, spec } = image;
  return {
    apiVersion: VolumeSnapshot.apiVersion,
    kind: VolumeSnapshot.kind,
    metadata: {
      name: snapshotName(metadata, revision),
      namespace: metadata.namespace,
      labels: { ...managedBy, [imageUidLabel]: metadata.uid, [revisionLabel]: String(revision) },
      ownerReferences: [
        {
          apiVersion: VMDiskImageKind.apiVersion,
          kind: VMDiskImageKind.kind,
          name: metadata.name,
          uid: metadata.uid,
          controller: true,
          blockOwnerDeletion: false,
        },
      ],
    },
    spec: { volumeSnapshotClassName: spec.snapshotClass, source: { persistentVolumeClaimName: claim } },
  };
}
