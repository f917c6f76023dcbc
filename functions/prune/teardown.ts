import type { Action } from '../../shared/actions.ts';
import { formatReference } from '../../shared/images/references.ts';
import { publish } from '../../shared/images/status.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { type Condition, diskImageFinalizer, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf, takenDown, withCondition } from '../../shared/kubernetes/conditions.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import type { Reason } from '../../shared/reasons/reason.ts';
import { traceOfImage } from '../../shared/traces.ts';
import type { Left } from './observed.ts';
import { ruleOf } from './unused.ts';

/** The limit of machines that a message names. */
const mostNamed = 5;

/**
 * Keeps the snapshot for the machines that use the image and names them, in Ready, too, which stays True: its reason is a column of
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
  const isNews = heldCondition(image)?.status !== 'True';
  return [
    ...reportConditions(
      image,
      [
        { type: 'DeletionHeld', status: 'True', reason: 'Referenced', message },
        ...(isReady(image) ? [{ type: 'Ready', status: 'True', reason: 'DeletionHeld', message } as const] : []),
      ],
      nowMs,
    ),
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
  const { namespace, name, finalizers, deletionTimestamp = '' } = image.metadata;
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
  const others = finalizers?.filter((finalizer) => finalizer !== diskImageFinalizer);
  const rule = ruleOf(image);
  return [
    ...claims.filter(isNotDeleting).map((of) => remove(image, PersistentVolumeClaim, of)),
    { do: 'patchMetadata', resource: VMDiskImage, of: image, metadata: { finalizers: others } },
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
  const said = reasons
    .filter(([type]) => conditionOf(image.status?.conditions, type)?.status === 'True')
    .map(([type, reason]): ConditionReport => ({ type, status: 'False', reason, message }));
  return reportConditions(image, said, nowMs);
}

type ConditionReport = Pick<Condition, 'type' | 'status' | 'message'> & { reason: Reason };

function reportConditions(image: VMDiskImage, said: readonly ConditionReport[], nowMs: number): Action[] {
  const news = said.filter(({ type, status, reason, message }) => {
    const found = conditionOf(image.status?.conditions, type);
    return found?.status !== status || found.reason !== reason || found.message !== message;
  });
  if (news.length === 0) return [];
  const { generation: observedGeneration } = image.metadata;
  const conditions = news.reduce<readonly Condition[]>(
    (before, next) => withCondition(before, { ...next, observedGeneration }, toTime(nowMs)),
    image.status?.conditions ?? [],
  );
  const status = { conditions };
  return [{ do: 'patchStatus', resource: VMDiskImage, of: image, status }];
}

type Made = DataVolume | PersistentVolumeClaim | VolumeSnapshot;

const isNotDeleting = ({ metadata }: Made) => !metadata.deletionTimestamp;

const remove = (
  image: VMDiskImage,
  resource: typeof DataVolume | typeof PersistentVolumeClaim | typeof VolumeSnapshot,
  of: Made,
): Action => ({ do: 'delete', resource, of, trace: traceOfImage(image) });
