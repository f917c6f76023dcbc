import { VolumeSnapshotClass } from '../../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { Claim, StorageClass } from '../controller/kinds.ts';
import type { Shared } from '../controller/simulator.ts';
import { VolumeSnapshot, VolumeSnapshotContent } from './kinds.ts';

export const watched = {
  snapshots: VolumeSnapshot,
  contents: VolumeSnapshotContent,
  classes: VolumeSnapshotClass,
  claims: Claim,
  storageClasses: StorageClass,
};

/** What the two controllers of the snapshotter share. */
export type World = Shared<typeof watched>;
