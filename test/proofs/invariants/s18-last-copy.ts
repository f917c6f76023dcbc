import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import {
  attemptLabel,
  imageUidLabel,
  revisionLabel,
  type VMDiskImage,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Invariant, State, Step } from './follow.ts';
import { isTrue } from './plain-rules.ts';
import { beganBefore } from './reconcile.ts';
import { isFunction } from './writers.ts';

/**
 * S18, last copy: no function deletes the last usable copy of an image that exists and is not being deleted. A copy is a ready
 * snapshot, or the downloaded and bound volume of the current attempt. It counts if it existed when the reconcile began; the
 * volume does not if the image was Queued or Retrying then, because volumes of ended attempts are deleted.
 */
export const s18LastCopy: Invariant = {
  number: 'S18',
  rule: 'no function deletes the last usable copy of an image',
  judge: () => {
    /** The lost copies of each image, and when they were lost. */
    const lost = new Map<string, { revision: number; ms: number }>();
    /** Since when each image uses the volume of an attempt that had ended or was unknown before. */
    const used = new Map<string, { revision: number; ms: number }>();
    const judge = (step: Step<DataVolume> | Step<VolumeSnapshot>) => {
      const { object, before, isGone, change, state, revision } = step;
      if (!before || isDeleting(before) || !(isGone || isDeleting(object))) return noteUnusable(step, lost);
      const images = [...state.images.values()].filter((image) => isUsableFor(image, before, state));
      for (const image of images) {
        const { uid, name, deletionTimestamp } = image.metadata;
        const hadAnother = lost.get(uid);
        lost.set(uid, { revision, ms: change.atMs });
        if (!isFunction(change.by) || deletionTimestamp || copiesOf(image, state).length > 0) continue;
        const usedSince = object.kind === DataVolume.kind ? used.get(uid) : undefined;
        if ([hadAnother, usedSince].some((then) => then && beganBefore(step as Step, then))) continue;
        return `${change.by} deleted ${object.kind} ${object.metadata.name}, the last copy of ${name}`;
      }
      return undefined;
    };
    return {
      download: judge,
      snapshot: judge,
      image: ({ object, before, revision, change }) => {
        const isEnded = [undefined, 'Queued', 'Retrying'].includes(before?.status?.phase);
        if (isEnded && usesItsVolume(object)) used.set(object.metadata.uid, { revision, ms: change.atMs });
        return undefined;
      },
    };
  },
};

/** An attempt that ended does not use its volume. */
const usesItsVolume = ({ status }: VMDiskImage) =>
  ['Snapshotting', 'Succeeded', 'Failed'].includes(status?.phase ?? '');

const isDeleting = ({ metadata }: KubernetesObject) => metadata.deletionTimestamp !== undefined;

/** A snapshot is no longer ready, or a volume was lost. */
function noteUnusable(
  step: Step<DataVolume> | Step<VolumeSnapshot>,
  lost: Map<string, { revision: number; ms: number }>,
) {
  const { before, object, state, revision, change } = step;
  if (!before) return undefined;
  for (const image of state.images.values())
    if (isUsableFor(image, before, state) && !isUsableFor(image, object, state))
      lost.set(image.metadata.uid, { revision, ms: change.atMs });
  return undefined;
}

const copiesOf = (image: VMDiskImage, state: State): KubernetesObject[] =>
  [...state.snapshots.values(), ...(state.downloads.get(image.metadata.uid)?.values() ?? [])].filter((one) =>
    isUsableFor(image, one, state),
  );

function isUsableFor(image: VMDiskImage, object: DataVolume | VolumeSnapshot, { claims }: State): boolean {
  const { metadata, status } = image;
  const { namespace, name, labels } = object.metadata;
  if (isDeleting(object) || namespace !== metadata.namespace) return false;
  const isItsOwn = labels?.[imageUidLabel] === metadata.uid;
  if (object.kind === 'VolumeSnapshot') {
    const isUsed = status?.snapshot?.name === name;
    return (isItsOwn || isUsed) && (object as VolumeSnapshot).status?.readyToUse === true;
  }
  const { phase, conditions } = (object as DataVolume).status ?? {};
  const isOfNow =
    labels?.[revisionLabel] === String(status?.revision) &&
    labels[attemptLabel] === String(status?.attempt) &&
    usesItsVolume(image);
  if (!isItsOwn || !isOfNow || phase !== 'Succeeded' || !isTrue(conditions, 'Bound')) return false;
  const claim = [...claims.values()].find((one) => one.metadata.name === name && one.metadata.namespace === namespace);
  return claim !== undefined && !isDeleting(claim);
}
