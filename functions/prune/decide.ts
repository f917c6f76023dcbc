import { type DataVolume, DataVolume as DataVolumeKind } from '../../shared/resources/cdi/data-volume.ts';
import type { PersistentVolumeClaim } from '../../shared/resources/core/persistent-volume-claim.ts';
import {
  diskImageFinalizer,
  type VMDiskImage,
  VMDiskImage as VMDiskImageKind,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import {
  type VolumeSnapshot,
  VolumeSnapshot as VolumeSnapshotKind,
} from '../../shared/resources/snapshot/volume-snapshot.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { tell, traceOf } from '../../shared/rules/image-status.ts';

/** An image that was deleted, and what is left of it. */
export interface Observed {
  image: VMDiskImage;
  dataVolumes: readonly DataVolume[];
  claims: readonly PersistentVolumeClaim[];
  snapshots: readonly VolumeSnapshot[];
  holdsSlot: boolean;
}

/**
 * Deletes volumes and snapshots, and gives up the finalizer only when nothing is left: no DataVolume, no claim, no
 * snapshot, no slot.
 */
export function decide({ image, dataVolumes, claims, snapshots, holdsSlot }: Observed): Action[] {
  const { metadata } = image;
  if (!metadata.deletionTimestamp || !metadata.finalizers?.includes(diskImageFinalizer)) return [];
  const trace = traceOf(image);
  const deletions: Action[] = [
    ...dataVolumes.filter(isNotLeaving).map((of): Action => ({ do: 'delete', resource: DataVolumeKind, of, trace })),
    ...snapshots.filter(isNotLeaving).map((of): Action => ({ do: 'delete', resource: VolumeSnapshotKind, of, trace })),
  ];
  if (dataVolumes.length + claims.length + snapshots.length > 0) return deletions;
  if (holdsSlot)
    return [{ do: 'again', because: `the slot of ${metadata.namespace}/${metadata.name} is not given back yet` }];
  const finalizers = metadata.finalizers.filter((name) => name !== diskImageFinalizer);
  return [
    { do: 'patchMetadata', resource: VMDiskImageKind, of: image, metadata: { finalizers }, trace },
    tell(image, 'pruned', image.status?.revision ?? 0, metadata.deletionTimestamp, { reason: 'Deleted' }),
  ];
}

const isNotLeaving = ({ metadata }: DataVolume | VolumeSnapshot) => !metadata.deletionTimestamp;
