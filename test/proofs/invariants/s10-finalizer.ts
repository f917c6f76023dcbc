import { diskImageFinalizer, imageUidLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Invariant, Step } from './follow.ts';
import { conditionOf, formatMachine, holds, takenDown } from './plain-rules.ts';
import { existedAtStart, longestReconcileMs, unchangedSinceStart } from './reconcile.ts';
import { usersFoundBy } from './using.ts';
import { isFunction } from './writers.ts';

/**
 * S10, finalizer: prune removes the finalizer of a deleted image only if no machine uses it and no slot, DataVolume, claim or
 * snapshot of its uid is left that is not being deleted; nor does it start to delete them (reason TakenDown) while a machine uses
 * the image. The state at the start of the reconcile counts or, if that was not recorded, the state five seconds earlier. Neither
 * a function nor the garbage collector deletes a snapshot that a machine uses, unless its content is missing: nothing can be
 * cloned from that. A finalizer that a user removed is back by the next audit.
 */
export const s10Finalizer: Invariant = {
  number: 'S10',
  rule: 'a deleted image keeps its finalizer while it has objects or machines use it',
  judge: (state, { stillFromMs, auditMs = 600_000, isFaultless }) => {
    /** The time since which each queued image has had no finalizer. */
    const bare = new Map<string, number>();
    const noteFinalizer = ({ metadata, status }: VMDiskImage, isGone: boolean, atMs: number) => {
      if (isGone || metadata.deletionTimestamp || !status?.phase || hasFinalizer({ metadata }))
        bare.delete(metadata.uid);
      else if (!bare.has(metadata.uid)) bare.set(metadata.uid, atMs);
    };
    return {
      snapshot: (step) => takenFromMachine(step),
      image: (step) => {
        const { object, isGone, change } = step;
        const bareMs = change.atMs - (bare.get(object.metadata.uid) ?? change.atMs);
        noteFinalizer(object, isGone, change.atMs);
        const isLeftAlone = isGone && isFaultless && bareMs > auditMs + longestReconcileMs;
        return isLeftAlone ? goneUnheld(step, bareMs) : removeFinalizer(step);
      },
      end: () =>
        stillFromMs === undefined
          ? []
          : [...bare.keys()].map((uid) => `${state.images.get(uid)?.metadata.name ?? uid} ends without its finalizer`),
    };
  },
};

/** prune removed the finalizer, or deletes the objects of the image, too early. */
function removeFinalizer(step: Step<VMDiskImage>): string | undefined {
  const { object, before, change } = step;
  if (before?.metadata.deletionTimestamp === undefined || (change.by !== undefined && change.by !== 'prune'))
    return undefined;
  const isReleased = hasFinalizer(before) && (step.isGone || !hasFinalizer(object));
  const isTakenDown = !step.isGone && !isDown(before) && isDown(object);
  if (!isReleased && !isTakenDown) return undefined;
  const holder = holderOf(step, before);
  const left = isReleased ? leftOf(step) : undefined;
  const why = holder ? `machine ${formatMachine(holder)} uses it` : left && `its ${left} exists`;
  return (
    why &&
    `${isReleased ? `${object.metadata.name} lost its finalizer` : `the objects of ${object.metadata.name} are deleted`} while ${why}`
  );
}

/** An image whose finalizer was not added again is deleted while machines use it, by any writer. */
function goneUnheld(step: Step<VMDiskImage>, bareMs: number): string | undefined {
  const { before, object } = step;
  const holder = before && holderOf(step, before);
  if (!holder) return undefined;
  return `${object.metadata.name} had no finalizer for ${bareMs} ms and was deleted while machine ${formatMachine(holder)} uses it`;
}

const holderOf = (step: Step, image: VMDiskImage) => usersFoundBy(step, image).find((machine) => holds(machine, image));

/** A function or the garbage collector deletes a snapshot that a machine uses. */
function takenFromMachine(step: Step<VolumeSnapshot>): string | undefined {
  const { object, before, isGone, change, state } = step;
  const isDeleting = isGone || object.metadata.deletionTimestamp !== undefined;
  if (!before || before.metadata.deletionTimestamp || isEmpty(before) || !isDeleting) return undefined;
  if (!isFunction(change.by) && change.by !== 'garbage-collector') return undefined;
  const { namespace, name } = object.metadata;
  for (const image of state.images.values()) {
    if (image.metadata.namespace !== namespace || image.status?.snapshot?.name !== name || isDown(image)) continue;
    const holder = holderOf(step as Step, image);
    if (holder)
      return `snapshot ${name} is deleted by ${change.by} while machine ${formatMachine(holder)} uses ${image.metadata.name}`;
  }
  return undefined;
}

const isEmpty = ({ status }: VolumeSnapshot) =>
  status?.error?.message?.includes('VolumeSnapshotContent is missing') === true;

const hasFinalizer = ({ metadata }: Pick<VMDiskImage, 'metadata'>) =>
  metadata.finalizers?.includes(diskImageFinalizer) ?? false;
const isDown = ({ status }: VMDiskImage) => conditionOf(status?.conditions, 'Ready')?.reason === takenDown;

function leftOf(step: Step<VMDiskImage>): string | undefined {
  const { state, object } = step;
  const { uid } = object.metadata;
  if (state.slots?.has(uid) && unchangedSinceStart(step, state.lease?.metadata.uid ?? '')) return 'slot';
  const stays = ({ metadata }: KubernetesObject) =>
    metadata.labels?.[imageUidLabel] === uid &&
    metadata.deletionTimestamp === undefined &&
    existedAtStart(step, metadata.uid);
  for (const objects of [state.downloads.get(uid), state.claims, state.snapshots]) {
    for (const [, found] of objects ?? []) if (stays(found)) return `${found.kind} ${found.metadata.name}`;
  }
  return undefined;
}
