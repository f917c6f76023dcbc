import { dataVolumeName, imageNameOf } from '../../../shared/images/children.ts';
import type { Holder } from '../../../shared/images/slots.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import {
  attemptLabel,
  imageUidLabel,
  revisionLabel,
  type VMDiskImage,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { type KubernetesObject, keyOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import type { Gathered } from '../observed.ts';

/**
 * A Pod or claim that is Terminating longer than this no longer keeps its slot: its node has most likely failed. A Pod that runs longer than
 * this for an attempt that is over gets a Warning, and so does a DataVolume that is Terminating longer.
 */
export const stuckAfterMs = 10 * 60_000;

export type Downloads = Pick<Gathered, 'nowMs' | 'dataVolumes' | 'claims' | 'pods' | 'unreadHolders'>;

/**
 * What keeps a slot: an active attempt in the status whose DataVolume is not Succeeded, any DataVolume of the image that is not
 * Succeeded, an importer Pod (CDI: after the deletion of a DataVolume its importer downloads until the Pod is deleted), or the claim of the
 * attempt without its DataVolume (CDI: until it is deleted, an importer may be created for it). Undefined = free. A slot is the right to
 * download, so it is free even if the status does not say so yet. Where nothing was read, the status of the image is all there is.
 */
export function keptBy(
  holder: Holder,
  image: VMDiskImage | undefined,
  { nowMs, dataVolumes, claims, pods, unreadHolders }: Downloads,
): 'status' | 'dataVolume' | 'pod' | 'claim' | undefined {
  if (unreadHolders.has(holder.uid)) return 'status';
  if (image && isActiveAttempt(holder, image) && !isAttemptDownloaded(holder, image, dataVolumes)) return 'status';
  const isOurs = (object: DataVolume | Pod) => object.metadata.labels?.[imageUidLabel] === holder.uid;
  if (dataVolumes.some((object) => isOurs(object) && object.status?.phase !== 'Succeeded')) return 'dataVolume';
  if (pods.some((pod) => isOurs(pod) && isActive(pod) && !isStuck(pod, nowMs))) return 'pod';
  const isOfHolder = isOfAttempt(holder);
  const isLeft =
    !dataVolumes.some(isOfHolder) && claims.some((one) => isOfHolder(one) && isOwned(one) && !isStuck(one, nowMs));
  if (isLeft) return 'claim';
  return undefined;
}

export const volumeOf = ({ revision, attempt }: Holder, { metadata }: VMDiskImage): ObjectReference => ({
  namespace: metadata.namespace,
  name: dataVolumeName(metadata, revision, attempt),
});

/** Whether CDI or start-sync made an object for the attempt of this holder, by its labels. */
export const isOfAttempt =
  ({ uid, revision, attempt }: Holder) =>
  ({ metadata: { labels } }: KubernetesObject) =>
    labels?.[imageUidLabel] === uid && labels[revisionLabel] === `${revision}` && labels[attemptLabel] === `${attempt}`;

/** The garbage collector deletes it after its DataVolume; one without an owner stays, and its importer is seen by its Pod. */
const isOwned = ({ metadata }: PersistentVolumeClaim) =>
  metadata.ownerReferences?.some(({ kind }) => kind === DataVolume.kind);

/** The holders of slots, derived from what is downloading: for a lost Lease. */
export function rebuild({ nowMs, images, dataVolumes, pods }: Downloads & Pick<Gathered, 'images'>): Holder[] {
  const names = new Map(images.map(({ metadata }) => [metadata.uid, metadata.name]));
  const holders = new Map<string, Holder>();
  const busy = [...dataVolumes.filter(({ status }) => status?.phase !== 'Succeeded'), ...pods.filter(isActive)];
  for (const { kind, metadata } of busy) {
    const uid = metadata.labels?.[imageUidLabel];
    if (!uid || holders.has(uid)) continue;
    // CDI chooses the name of a Pod.
    const made = kind === DataVolume.kind ? imageNameOf(metadata.name) : undefined;
    const name = names.get(uid) ?? made ?? metadata.name;
    holders.set(uid, {
      uid,
      image: keyOf({ namespace: metadata.namespace, name }),
      revision: Number(metadata.labels?.[revisionLabel]) || 1,
      attempt: Number(metadata.labels?.[attemptLabel]) || 1,
      since: toTime(nowMs),
    });
  }
  return [...holders.values()];
}

/** The attempt of this holder is the newest of the image and has not ended: granted, begun or downloading. */
export function isActiveAttempt(holder: Holder, image: VMDiskImage) {
  const { phase, revision, attempt = 0 } = image.status ?? {};
  if (image.metadata.deletionTimestamp || revision !== holder.revision) return false;
  return (phase === 'Syncing' && attempt === holder.attempt) || (phase === 'Queued' && attempt < holder.attempt);
}

/** The DataVolume of the attempt is Succeeded. Its absence from a list is no evidence. */
function isAttemptDownloaded(holder: Holder, image: VMDiskImage, dataVolumes: readonly DataVolume[]) {
  const { name } = volumeOf(holder, image);
  return dataVolumes.some(
    ({ metadata, status }) =>
      metadata.name === name &&
      metadata.labels?.[imageUidLabel] === image.metadata.uid &&
      status?.phase === 'Succeeded',
  );
}

export const isActive = (pod: Pod) => pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed';
export const isStuck = ({ metadata }: KubernetesObject, nowMs: number) =>
  metadata.deletionTimestamp !== undefined && nowMs - Date.parse(metadata.deletionTimestamp) > stuckAfterMs;
