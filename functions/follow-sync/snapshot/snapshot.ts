import type { Action } from '../../../shared/actions.ts';
import { imageChildMetadata, imageNameOf, snapshotName } from '../../../shared/images/children.ts';
import { patchStatus, type StatusPatch } from '../../../shared/images/status.ts';
import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { imageUidLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { shortHash } from '../../../shared/kubernetes/names.ts';
import { traceOfImage } from '../../../shared/traces.ts';

/** The snapshot of a revision, cut from the claim of the attempt that downloaded it (a DataVolume's claim has its name). */
export const snapshotFor = (image: VMDiskImage, revision: number, claim: string) => ({
  apiVersion: VolumeSnapshot.apiVersion,
  kind: VolumeSnapshot.kind,
  metadata: imageChildMetadata(image, snapshotName(image.metadata, revision), revision),
  spec: { volumeSnapshotClassName: image.spec.snapshotClass, source: { persistentVolumeClaimName: claim } },
});

/**
 * The snapshot holds the download of this attempt: it was taken from the claim of the attempt, and after the volume was created.
 * After a loss of the status, a claim may have the name of an earlier one.
 */
export const isCutFrom = ({ metadata, spec }: VolumeSnapshot, volume: DataVolume | undefined, attempt: string) =>
  spec?.source?.persistentVolumeClaimName === (volume?.status?.claimName ?? attempt) &&
  metadata.creationTimestamp >= (volume?.metadata.creationTimestamp ?? '');

/**
 * A snapshot of its downloads, an adopted snapshot, or a snapshot of an earlier image of its name that a backup restored with another uid.
 * Any user may create a snapshot under a free name.
 */
export function isOf({ metadata, status }: VMDiskImage, { metadata: { name, labels } }: VolumeSnapshot) {
  const uid = labels?.[imageUidLabel];
  const isRestored = uid !== undefined && name.startsWith(`${metadata.name}-${shortHash(uid)}-r`);
  const wasAdopted =
    imageNameOf(name) !== metadata.name && status?.revisions?.some(({ snapshot }) => snapshot === name);
  return uid === metadata.uid || status?.adoption?.snapshot === name || isRestored || wasAdopted === true;
}

/** The snapshot is being deleted, or its content was: nothing can be cloned from it, whatever readyToUse says. */
export const isLost = ({ metadata, status }: VolumeSnapshot) =>
  metadata.deletionTimestamp !== undefined || /VolumeSnapshotContent is missing/.test(status?.error?.message ?? '');

/**
 * A snapshot that machines were cloned from is lost. Of such a snapshot the external-snapshotter makes readyToUse false, with an error,
 * only if its content is missing or another's; afterwards it tries to take the snapshot again, and the error is about its claim.
 */
export const isLostInUse = (snapshot: VolumeSnapshot) =>
  isLost(snapshot) || (snapshot.status?.readyToUse === false && snapshot.status.error !== undefined);

/** Machines can be cloned from the snapshot. */
export const isUsable = (snapshot: VolumeSnapshot) => snapshot.status?.readyToUse === true && !isLost(snapshot);

/** The start of the wait for the snapshot. If a user removed it from the status, the last known time before it. */
export const sinceMs = ({ status }: VMDiskImage, dataVolume: DataVolume | undefined) =>
  [status?.snapshottingAt, status?.startedAt, dataVolume?.metadata.creationTimestamp]
    .map((time) => Date.parse(time ?? ''))
    .find(Number.isFinite) ?? 0;

/** Of a snapshot that is in the way: it is the image's, it is not being deleted yet, and no machine is cloned from it. */
export function isRemovable({ metadata, status }: VMDiskImage, snapshot: VolumeSnapshot) {
  const { name, deletionTimestamp, labels } = snapshot.metadata;
  const isUsed = status?.snapshot?.name === name && !isLost(snapshot);
  return labels?.[imageUidLabel] === metadata.uid && deletionTimestamp === undefined && !isUsed;
}

/** Deletes snapshots of the image, if it is as it was read; with fields of its status that this changes. */
export const removeSnapshots = (
  image: VMDiskImage,
  snapshots: readonly VolumeSnapshot[],
  status?: StatusPatch,
): Action[] => {
  if (snapshots.length === 0) return [];
  const trace = traceOfImage(image);
  return [
    ifUnchanged(image, status),
    ...snapshots.map((of): Action => ({ do: 'delete', resource: VolumeSnapshot, of, trace })),
  ];
};

/**
 * The API server refuses this if the image changed since it was read: what seems not to be needed, or in the way, may be of a later
 * revision, or be the copy of an image that a backup restored since.
 */
export const ifUnchanged = (image: VMDiskImage, status: StatusPatch = {}): Action => patchStatus(image, status);
