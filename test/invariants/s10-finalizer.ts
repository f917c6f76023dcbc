import { diskImageFinalizer, imageUidLabel, type VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../shared/resources/resource.ts';
import type { Invariant, Step } from './follow.ts';
import { wasSo, wasThere } from './pass.ts';
import { conditionOf, holds, sayMachine, takenDown } from './plain-rules.ts';
import { usersFoundBy } from './using.ts';

/**
 * S10, finalizer: whoever takes it from a deleted image leaves no slot, no DataVolume, claim or snapshot of that uid that is not
 * being deleted, and no machine that holds the image; nor is it said to be taken down while one does. Judged is what was there
 * when the deciding pass began (DESIGN §10), and where nobody recorded that, five seconds before.
 */
export const s10Finalizer: Invariant = {
  number: 'S10',
  says: 'a deleted image stays while anything of it is there or a machine holds it',
  judge: () => ({
    image: (step) => {
      const { object, before, change } = step;
      if (before?.metadata.deletionTimestamp === undefined || (change.by !== undefined && change.by !== 'prune'))
        return undefined;
      const isReleased = hasFinalizer(before) && (step.isGone || !hasFinalizer(object));
      const isTakenDown = !step.isGone && !isDown(before) && isDown(object);
      if (!isReleased && !isTakenDown) return undefined;
      const holder = usersFoundBy(step, before).find((machine) => holds(machine, before));
      const left = isReleased ? leftOf(step) : undefined;
      const why = holder ? `machine ${sayMachine(holder)} holds it` : left && `its ${left} is there`;
      return why && `${object.metadata.name} ${isReleased ? 'lost its finalizer' : 'is taken down'} while ${why}`;
    },
  }),
};

const hasFinalizer = ({ metadata }: VMDiskImage) => metadata.finalizers?.includes(diskImageFinalizer) ?? false;
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
