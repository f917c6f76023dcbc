import type { Action } from '../../shared/actions.ts';
import { isHeldBy, referencesAmong } from '../../shared/images/references.ts';
import type { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import type { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { ObjectReference } from '../../shared/kinds/resource.ts';
import type { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Policy } from '../../shared/policy.ts';
import { waitingAmong } from '../../shared/workspaces/images.ts';
import { mayBeOrphan, orphan } from './orphan.ts';
import { removeStray, type Stray } from './stray.ts';
import { hold, takeDown } from './teardown.ts';
import { unused } from './unused.ts';

/** The input of one decision. */
export type Observed = Seen | Stray | Postponed;

/** The image was not read: the pass has reached its limit. */
export interface Postponed {
  postponed: ObjectReference;
}

/** An image that was deleted, or that may have to go, and who names it. */
export interface Seen {
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

/**
 * Deletes an unused image. Retains a deleted image while machines use it, then deletes its volumes and snapshots. Deletes the
 * volumes and snapshots of an image that no longer exists.
 */
export function decide(observed: Observed): Action[] {
  if ('postponed' in observed) return [requeueAfter(observed.postponed)];
  if ('stray' in observed) return removeStray(observed);
  const { image, machines, workspaces, policy, left, nowMs } = observed;
  const { deletionTimestamp, finalizers } = image.metadata;
  const users = referencesAmong(machines, policy);
  if (deletionTimestamp === undefined) {
    const waiting = waitingAmong(workspaces, image.metadata, { machines: users, policy });
    if (users.length + waiting.length > 0) return [];
    return mayBeOrphan(image, policy) ? orphan(image) : unused(image, policy, nowMs);
  }
  if (!finalizers?.includes(diskImageFinalizer) || !left) return [];
  const holders = isLostAnyway(left) ? [] : users.filter((machine) => isHeldBy(image, machine));
  return holders.length > 0 ? hold(image, left, holders, nowMs) : takeDown(image, left, nowMs);
}

/** The namespace controller deletes the snapshot in any case. Machines, whose disks are clones elsewhere, must not block it. */
const isLostAnyway = ({ isNamespaceDeleting, snapshots }: Left) =>
  isNamespaceDeleting === true && snapshots.every(({ metadata }) => metadata.deletionTimestamp !== undefined);

const requeueAfter = (metadata: ObjectReference): Action => ({
  do: 'requeueAfter',
  about: { apiVersion: VMDiskImage.apiVersion, kind: VMDiskImage.kind, metadata },
  afterMs: 0,
});
