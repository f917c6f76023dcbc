import { type Action, requeueNamed } from '../../shared/actions.ts';
import { isHeldBy, referencesAmong } from '../../shared/images/references.ts';
import { diskImageFinalizer, releaseHolds, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { waitingAmong } from '../../shared/workspaces/images.ts';
import type { Left, Observed } from './observed.ts';
import { removeStray } from './stray.ts';
import { finalize, retain } from './teardown.ts';
import { isWorkspaceImageDue, pruneUnused, pruneWorkspaceImage } from './unused.ts';

/**
 * Deletes an unused image. Retains a deleted image while machines use it, then deletes its volumes and snapshots. Deletes the
 * volumes and snapshots of an image that no longer exists.
 */
export function decide(observed: Observed): Action[] {
  if ('postponed' in observed) return [requeueNamed(VMDiskImage, observed.postponed)];
  if ('stray' in observed) return removeStray(observed);
  const { image, machines, workspaces, policy, left, nowMs } = observed;
  const { annotations, deletionTimestamp, finalizers } = image.metadata;
  const users = referencesAmong(machines, policy);
  if (deletionTimestamp === undefined) {
    const waiting = waitingAmong(workspaces, image.metadata, { machines: users, policy });
    if (users.length + waiting.length > 0) return [];
    return isWorkspaceImageDue(image, policy, nowMs) ? pruneWorkspaceImage(image) : pruneUnused(image, policy, nowMs);
  }
  if (!finalizers?.includes(diskImageFinalizer) || !left) return [];
  const isReleased = annotations?.[releaseHolds] === 'true';
  const holders = isReleased || isLostAnyway(left) ? [] : users.filter((machine) => isHeldBy(image, machine));
  return holders.length > 0 ? retain(image, left, holders, nowMs) : finalize(image, left, nowMs);
}

/** The namespace controller deletes the snapshot in any case. Machines, whose disks are clones elsewhere, must not block it. */
const isLostAnyway = ({ isNamespaceDeleting, snapshots }: Left) =>
  isNamespaceDeleting === true && snapshots.every(({ metadata }) => metadata.deletionTimestamp !== undefined);
