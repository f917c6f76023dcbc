import { wantedContent } from '../../../shared/images/shared-content.ts';
import { imageUidLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { bytesOf } from '../../../shared/kubernetes/quantity.ts';

/** The image whose snapshot another of the same content is cloned from. */
export type Donor = NonNullable<NonNullable<VMDiskImage['status']>['sharedFrom']>;

/** By content, as `contentOf` names it: undefined if no image has it yet. What is not in it was not looked for. */
export type Donors = ReadonlyMap<string, Donor | undefined>;

/** Its present revision exists, as it was inspected. */
export function canDonate({ metadata, status }: VMDiskImage): boolean {
  const { phase, revision, snapshot, conditions } = status ?? {};
  if (metadata.deletionTimestamp || phase !== 'Succeeded' || snapshot?.revision !== revision) return false;
  return conditionOf(conditions, 'Ready')?.status === 'True';
}

/** CDI refuses a clone without a size of a snapshot whose size is not known (snapshot-clone-controller.go: validateSnapshotClone). */
export function donorOf({ metadata, status }: VMDiskImage, snapshots: readonly VolumeSnapshot[]): Donor | undefined {
  const snapshot = snapshots.find(
    (one) =>
      one.metadata.name === status?.snapshot?.name &&
      one.metadata.namespace === metadata.namespace &&
      one.metadata.labels?.[imageUidLabel] === metadata.uid,
  );
  const { readyToUse, restoreSize = '0', error } = snapshot?.status ?? {};
  if (!snapshot || snapshot.metadata.deletionTimestamp || !readyToUse || error || !bytesOf(restoreSize))
    return undefined;
  return { image: metadata.name, snapshot: snapshot.metadata.name };
}

/** The image that this one can be cloned from, if it wants that and one was found. */
export const donorFor = (image: VMDiskImage, donors: Donors): Donor | undefined =>
  donors.get(wantedContent(image) ?? '');

/** The image as its attempt begins: a clone downloads nothing, and a failed one does not count for the next attempt. */
export const asBegun = (image: VMDiskImage, donors: Donors): VMDiskImage => ({
  ...image,
  status: { ...image.status, sharedFrom: donorFor(image, donors) },
});
