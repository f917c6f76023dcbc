import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { PersistentVolumeClaim } from '../../shared/resources/core/persistent-volume-claim.ts';
import { imageUidLabel, type VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../shared/resources/resource.ts';
import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { adopteeOf } from '../../shared/rules/adoption.ts';
import { imageNameOf, shortHash } from '../../shared/rules/names.ts';

/** What is made for an image, in the order in which it is taken down. */
export const madeKinds = [DataVolume, PersistentVolumeClaim, VolumeSnapshot] as const;

/** What was made for an image that no longer exists by its uid, as a restored backup is or what lost its owner. */
export interface Stray {
  nowMs: number;
  /** Nothing tells that an image came back but the image: only an audit, which has read all of them, deletes. */
  isAudit: boolean;
  stray: KubernetesObject;
  /** The image of that name, read once more after the stray; absent where there is none. */
  image?: VMDiskImage | undefined;
}

/** A restored backup brings volumes and snapshots before the images that name them. */
const strayForMs = 10 * 60_000;

/** Made for an image by us (its name tells of the uid on its label), and long enough ago that its image had to be there. */
export function mayBeStray(object: KubernetesObject, nowMs: number): boolean {
  const { name, labels, deletionTimestamp, creationTimestamp } = object.metadata;
  // No image comes back under its old uid, and a download that is nobody's keeps a slot.
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

/** The snapshots that an image is cloned from, or takes over, be they made for it or for one of its name before. */
export const snapshotsNamedBy = (image: VMDiskImage): string[] =>
  [
    image.status?.snapshot?.name,
    ...(image.status?.revisions ?? []).map(({ snapshot }) => snapshot),
    image.status?.adoption?.snapshot,
    adopteeOf(image),
  ].filter((name) => name !== undefined);

/** Deletes it, only as it was observed. A claim that a DataVolume owns goes with that. */
export function removeStray({ stray, image, isAudit, nowMs }: Stray): Action[] {
  const { metadata, kind } = stray;
  const resource = madeKinds.find((made) => made.kind === kind);
  if (!resource || !isAudit || !mayBeStray(stray, nowMs)) return [];
  if (kind === PersistentVolumeClaim.kind && metadata.ownerReferences?.length) return [];
  const uid = metadata.labels?.[imageUidLabel];
  if (image?.metadata.uid === uid || (image && snapshotsNamedBy(image).includes(metadata.name))) return [];
  const message = `Made for VMDiskImage ${imageNameOf(metadata.name)} (uid ${uid}), which no longer exists, and used by none: deleted.`;
  return [
    { do: 'delete', resource, of: stray, unchanged: true },
    { do: 'record', about: stray, type: 'Warning', reason: 'ImageGone', message, once: metadata.uid },
  ];
}
