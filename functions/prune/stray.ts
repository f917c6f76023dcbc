import type { Action } from '../../shared/actions.ts';
import { adopteeOf } from '../../shared/images/adoption.ts';
import { imageNameOf } from '../../shared/images/children.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { imageUidLabel, type VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { shortHash } from '../../shared/kubernetes/names.ts';

/** The kinds of objects made for an image, in the order of their deletion. */
export const madeKinds = [DataVolume, PersistentVolumeClaim, VolumeSnapshot] as const;

/** An object made for an image whose uid no longer exists, for example because it was restored from a backup or lost its owner. */
export interface Stray {
  nowMs: number;
  /** Only an audit reads all images, and only then is it certain that the image does not exist. */
  isAudit: boolean;
  stray: KubernetesObject;
  /** The image of that name, read again after the stray; absent if it does not exist. */
  image?: VMDiskImage | undefined;
}

/** A restore creates volumes and snapshots before the images that name them. */
const strayForMs = 10 * 60_000;

/** These functions made it (its name contains the hash of the uid on its label), and its image had enough time to be restored. */
export function mayBeStray(object: KubernetesObject, nowMs: number): boolean {
  const { name, labels, deletionTimestamp, creationTimestamp } = object.metadata;
  // No restored image has its old uid, so a download of that uid would occupy a slot for nothing.
  const waitMs = isDownload(object) ? 0 : strayForMs;
  const image = imageNameOf(name);
  return (
    image !== undefined &&
    name.startsWith(`${image}-${shortHash(labels?.[imageUidLabel] ?? '')}-r`) &&
    deletionTimestamp === undefined &&
    Date.parse(creationTimestamp) <= nowMs - waitMs
  );
}

const isDownload = ({ kind, ...object }: KubernetesObject) =>
  kind === DataVolume.kind && (object as Partial<DataVolume>).status?.phase !== 'Succeeded';

/** The snapshots that an image uses, may go back to, or adopts, whether made for it or for an earlier image of its name. */
export const snapshotsNamedBy = (image: VMDiskImage): string[] =>
  [
    image.status?.snapshot?.name,
    ...(image.status?.revisions ?? []).map(({ snapshot }) => snapshot),
    image.status?.adoption?.snapshot,
    adopteeOf(image),
  ].filter((name) => name !== undefined);

/** Deletes it only as it was observed. The garbage collector deletes a claim that has an owner. */
export function removeStray({ stray, image, isAudit, nowMs }: Stray): Action[] {
  const { metadata, kind } = stray;
  const resource = madeKinds.find((made) => made.kind === kind);
  if (!resource || !isAudit || !mayBeStray(stray, nowMs)) return [];
  if (kind === PersistentVolumeClaim.kind && metadata.ownerReferences?.length) return [];
  const uid = metadata.labels?.[imageUidLabel];
  if (image?.metadata.uid === uid || (image && snapshotsNamedBy(image).includes(metadata.name))) return [];
  const message = `Made for VMDiskImage ${imageNameOf(metadata.name)} (uid ${uid}), which no longer exists, and unused: deleted.`;
  return [
    { do: 'delete', resource, of: stray, unchanged: true },
    recordEvent(stray, true, 'ImageGone', message, metadata.uid),
  ];
}
