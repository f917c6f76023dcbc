import type { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import type { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { ObjectReference } from '../../shared/kinds/resource.ts';
import type { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Policy } from '../../shared/policy.ts';
import type { Stray } from './stray.ts';

/** The input of one decision. */
export type Observed = ObservedImage | Stray | Postponed;

/** The image was not read: the reconcile has reached its limit. */
export interface Postponed {
  postponed: ObjectReference;
}

/** An image that was deleted, or that may have to go, and who names it. */
export interface ObservedImage {
  nowMs: number;
  policy: Policy;
  image: VMDiskImage;
  /** Listed after the image was read, whatever their state. */
  machines: readonly VirtualMachine[];
  /** Listed after the image was read as well; those of other images among them. */
  workspaces: readonly Workspace[];
  /** What exists of a deleted image; not read for others. */
  left?: Left;
}

export interface Left {
  dataVolumes: readonly DataVolume[];
  claims: readonly PersistentVolumeClaim[];
  snapshots: readonly VolumeSnapshot[];
  holdsSlot: boolean;
  /** The namespace of the image is being deleted, and so is everything in it. */
  isNamespaceDeleting?: boolean;
}
