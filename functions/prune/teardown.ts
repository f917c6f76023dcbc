import { type DataVolume, DataVolume as DataVolumeKind } from '../../shared/resources/cdi/data-volume.ts';
import type { VirtualMachine } from '../../shared/resources/pelotech/virtual-machine.ts';
import {
  type Condition,
  diskImageFinalizer,
  type VMDiskImage,
  VMDiskImage as VMDiskImageKind,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import {
  type VolumeSnapshot,
  VolumeSnapshot as VolumeSnapshotKind,
} from '../../shared/resources/snapshot/volume-snapshot.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { conditionOf, withCondition } from '../../shared/rules/conditions.ts';
import { record, tell, traceOf } from '../../shared/rules/image-status.ts';
import { sayReference } from '../../shared/rules/references.ts';
import { toTime } from '../../shared/rules/time.ts';
import type { Left } from './decide.ts';
import { ruleOf } from './unused.ts';

/** So many holders are named. */
const mostNamed = 5;

/** Keeps the snapshot for those who hold the image, and says who they are; a download that goes on ends. */
export function hold(
  image: VMDiskImage,
  { dataVolumes }: Left,
  holders: readonly VirtualMachine[],
  nowMs: number,
): Action[] {
  const others = holders.length - mostNamed;
  const names = `${holders.slice(0, mostNamed).map(sayReference).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
  const machines = holders.length === 1 ? '1 machine' : `${holders.length} machines`;
  const message = `Expected no machine to use an image that is deleted, found ${machines}: ${names}. It goes with the last of them.`;
  const isNews = heldCondition(image)?.status !== 'True';
  return [
    ...say(image, { status: 'True', reason: 'Referenced', message }, nowMs),
    ...(isNews ? [record(image, false, 'DeletionHeld', message, image.metadata.deletionTimestamp ?? '')] : []),
    ...dataVolumes.filter(isNotLeaving).map((of) => remove(image, DataVolumeKind, of)),
  ];
}

/**
 * Deletes volumes and snapshots, and gives up the finalizer only when nothing is left: no DataVolume, no claim, no
 * snapshot, no slot.
 */
export function takeDown(
  image: VMDiskImage,
  { dataVolumes, claims, snapshots, holdsSlot }: Left,
  nowMs: number,
): Action[] {
  const { namespace, name, finalizers, deletionTimestamp = '' } = image.metadata;
  if (dataVolumes.length + claims.length + snapshots.length > 0) {
    return [
      ...heldNoMore(image, nowMs),
      ...dataVolumes.filter(isNotLeaving).map((of) => remove(image, DataVolumeKind, of)),
      ...snapshots.filter(isNotLeaving).map((of) => remove(image, VolumeSnapshotKind, of)),
    ];
  }
  if (holdsSlot) {
    const because = `the slot of ${namespace}/${name} is not given back yet`;
    return [...heldNoMore(image, nowMs), { do: 'again', because }];
  }
  const others = finalizers?.filter((finalizer) => finalizer !== diskImageFinalizer);
  const trace = traceOf(image);
  const rule = ruleOf(image);
  return [
    { do: 'patchMetadata', resource: VMDiskImageKind, of: image, metadata: { finalizers: others }, trace },
    tell(image, 'pruned', image.status?.revision ?? 0, deletionTimestamp, { rule, reason: rule }),
    { do: 'measure', metric: 'ot.image.pruned', value: 1, attributes: { rule } },
  ];
}

const heldCondition = ({ status }: VMDiskImage) => conditionOf(status?.conditions, 'DeletionHeld');

const heldNoMore = (image: VMDiskImage, nowMs: number): Action[] =>
  heldCondition(image)?.status === 'True'
    ? say(image, { status: 'False', reason: 'NotReferenced', message: 'No machine uses it; it is taken down.' }, nowMs)
    : [];

type Said = Pick<Condition, 'status' | 'reason' | 'message'>;

function say(image: VMDiskImage, said: Said, nowMs: number): Action[] {
  const found = heldCondition(image);
  if (found?.status === said.status && found.message === said.message) return [];
  const next = { type: 'DeletionHeld', observedGeneration: image.metadata.generation, ...said };
  const status = { conditions: withCondition(image.status?.conditions, next, toTime(nowMs)) };
  return [{ do: 'patchStatus', resource: VMDiskImageKind, of: image, status, trace: traceOf(image) }];
}

const isNotLeaving = ({ metadata }: DataVolume | VolumeSnapshot) => !metadata.deletionTimestamp;

const remove = (
  image: VMDiskImage,
  resource: typeof DataVolumeKind | typeof VolumeSnapshotKind,
  of: DataVolume | VolumeSnapshot,
): Action => ({ do: 'delete', resource, of, trace: traceOf(image) });
