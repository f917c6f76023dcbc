import type { Action } from '../../shared/actions.ts';
import { formatReference } from '../../shared/images/references.ts';
import { publish, reportConditions } from '../../shared/images/status.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf, takenDown } from '../../shared/kubernetes/conditions.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { removeFinalizer } from '../../shared/kubernetes/finalizer.ts';
import { isNotSo, isSo } from '../../shared/kubernetes/status.ts';
import { traceOfImage } from '../../shared/traces.ts';
import type { Left } from './observed.ts';
import { ruleOf } from './unused.ts';

/** The limit of machines that a message names. */
const mostNamed = 5;

/**
 * Keeps the snapshot for the machines that use the image and names them, in message and Ready, too, which stays True: they are columns of
 * kubectl, where the phase of the image is still Succeeded. A running download is ended.
 */
export function retain(
  image: VMDiskImage,
  { dataVolumes }: Left,
  holders: readonly VirtualMachine[],
  nowMs: number,
): Action[] {
  const others = holders.length - mostNamed;
  const names = `${holders.slice(0, mostNamed).map(formatReference).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
  const machines = holders.length === 1 ? '1 machine' : `${holders.length} machines`;
  const message = `The image is deleted, but still used by ${machines}: ${names}. It is removed when the last of them is.`;
  const held = isSo('DeletionHeld', 'Referenced', message);
  const isNews = heldCondition(image)?.status !== 'True';
  return [
    ...(isReady(image)
      ? reportConditions(image, [held, isSo('Ready', 'DeletionHeld', message)], nowMs, { message })
      : reportConditions(image, [held], nowMs)),
    ...(isNews ? [recordEvent(image, false, 'DeletionHeld', message, image.metadata.deletionTimestamp ?? '')] : []),
    ...dataVolumes.filter(isNotDeleting).map((of) => remove(image, DataVolume, of)),
  ];
}

/**
 * Reports that the image is no longer Ready, so that nothing clones from it, then deletes volumes and snapshots. Removes the finalizer
 * only when no DataVolume, no snapshot and no slot is left, and each claim is deleted: no event reports a claim's end, so none is awaited.
 */
export function finalize(
  image: VMDiskImage,
  { dataVolumes, claims, snapshots, holdsSlot }: Left,
  nowMs: number,
): Action[] {
  const { namespace, name, deletionTimestamp = '' } = image.metadata;
  if (dataVolumes.length + snapshots.length > 0) {
    return [
      ...reportTakenDown(image, nowMs),
      ...dataVolumes.filter(isNotDeleting).map((of) => remove(image, DataVolume, of)),
      ...snapshots.filter(isNotDeleting).map((of) => remove(image, VolumeSnapshot, of)),
    ];
  }
  if (holdsSlot) {
    const because = `the slot of ${namespace}/${name} is not given back yet`;
    return [...reportTakenDown(image, nowMs), { do: 'redeliver', because }];
  }
  const rule = ruleOf(image);
  return [
    ...claims.filter(isNotDeleting).map((of) => remove(image, PersistentVolumeClaim, of)),
    removeFinalizer(VMDiskImage, image, diskImageFinalizer),
    publish(image, 'pruned', image.status?.revision ?? 0, deletionTimestamp, { rule, reason: rule }),
    { do: 'measure', metric: 'ot.image.pruned', value: 1, attributes: { rule } },
  ];
}

const isReady = ({ status }: VMDiskImage) => conditionOf(status?.conditions, 'Ready')?.status === 'True';

const heldCondition = ({ status }: VMDiskImage) => conditionOf(status?.conditions, 'DeletionHeld');

/** Of DeletionHeld and Ready those that are still True, in one write. */
function reportTakenDown(image: VMDiskImage, nowMs: number): Action[] {
  const message = 'No machine uses it; it is being removed.';
  const reasons = [
    ['DeletionHeld', 'NotReferenced'],
    ['Ready', takenDown],
  ] as const;
  const isTrue = (type: string) => conditionOf(image.status?.conditions, type)?.status === 'True';
  const wanted = reasons.filter(([type]) => isTrue(type)).map(([type, reason]) => isNotSo(type, reason, message));
  return reportConditions(image, wanted, nowMs);
}

type Made = DataVolume | PersistentVolumeClaim | VolumeSnapshot;

const isNotDeleting = ({ metadata }: Made) => !metadata.deletionTimestamp;

const remove = (
  image: VMDiskImage,
  resource: typeof DataVolume | typeof PersistentVolumeClaim | typeof VolumeSnapshot,
  of: Made,
): Action => ({ do: 'delete', resource, of, trace: traceOfImage(image) });
