import type { Informer } from '../controller/informer.ts';
import type { Claim, StorageClass } from '../controller/kinds.ts';
import type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from './kinds.ts';

/** Everything the snapshotter looks at. */
export interface World {
  snapshots: Informer<VolumeSnapshot>;
  contents: Informer<VolumeSnapshotContent>;
  classes: Informer<VolumeSnapshotClass>;
  claims: Informer<Claim>;
  storageClasses: Informer<StorageClass>;
}
