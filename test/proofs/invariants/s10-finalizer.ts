import { diskImageFinalizer, imageUidLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Invariant, Step } from './follow.ts';
import { longestPassMs, wasSo, wasThere } from './pass.ts';
import { conditionOf, formatMachine, holds, takenDown } from './plain-rules.ts';
import { usersFoundBy } from './using.ts';
import { isFunction } from './writers.ts';

/**
 * S10, finalizer: whoever takes it from a deleted image leaves no slot, no DataVolume, claim or snapshot of that uid that is not
 * being deleted, and no machine that holds the image; nor is it said to be taken down while one does. Judged is what was there
 * when the deciding pass began (DESIGN §10), and if that was not recorded, five seconds before. Neither a function nor the
 * garbage collector deletes a snapshot that machines hold, unless its content does not exist: nothing can be cloned from that. A
 * finalizer that a user removed is back by the next audit.
 */
export const s10Finalizer: Invariant = {
  number: 'S10',
  says: 'a deleted image stays while anything of it is there or a machine holds it',
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
        const isLeftAlone = isGone && isFaultless && bareMs > auditMs + longestPassMs;
        return isLeftAlone ? goneUnheld(step, bareMs) : removeFinalizer(step);
      },
      end: () =>
        stillFromMs === undefined
          ? []
          : [...bare.keys()].map((uid) => `${state.images.get(uid)?.metadata.name ?? uid} ends without its finalizer`),
    };
  },
};

/** prune removes the finalizer, or deletes the objects of the image, although it must not yet. */
function removeFinalizer(step: Step<VMDiskImage>): string | undefined {
  const { object, before, change } = step;
  if (before?.metadata.deletionTimestamp === undefined || (change.by !== undefined && change.by !== 'prune'))
    return undefined;
  const isReleased = hasFinalizer(before) && (step.isGone || !hasFinalizer(object));
  const isTakenDown = !step.isGone && !isDown(before) && isDown(object);
  if (!isReleased && !isTakenDown) return undefined;
  const holder = holderOf(step, before);
  const left = isReleased ? leftOf(step) : undefined;
  const why = holder ? `machine ${formatMachine(holder)} holds it` : left && `its ${left} is there`;
  return why && `${object.metadata.name} ${isReleased ? 'lost its finalizer' : 'is taken down'} while ${why}`;
}

/** An image whose finalizer was not added again is deleted while machines use it, by any writer. */
function goneUnheld(step: Step<VMDiskImage>, bareMs: number): string | undefined {
  const { before, object } = step;
  const holder = before && holderOf(step, before);
  if (!holder) return undefined;
  return `${object.metadata.name} had no finalizer for ${bareMs} ms and is gone while machine ${formatMachine(holder)} holds it`;
}

const holderOf = (step: Step, image: VMDiskImage) => usersFoundBy(step, image).find((machine) => holds(machine, image));

/** A function deletes a snapshot that machines hold, or the garbage collector does. */
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
      return `snapshot ${name} is deleted by ${change.by} while machine ${formatMachine(holder)} holds ${image.metadata.name}`;
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
  if (state.slots?.has(uid) && wasSo(step, state.lease?.metadata.uid ?? '')) return 'slot';
  const stays = ({ metadata }: KubernetesObject) =>
    metadata.labels?.[imageUidLabel] === uid &&
    metadata.deletionTimestamp === undefined &&
    wasThere(step, metadata.uid);
  for (const objects of [state.downloads.get(uid), state.claims, state.snapshots]) {
    for (const [, found] of objects ?? []) if (stays(found)) return `${found.kind} ${found.metadata.name}`;
  }
  return undefined;
}
