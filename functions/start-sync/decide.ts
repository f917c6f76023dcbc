import { diskImageFinalizer, VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { isAdopting } from '../../shared/rules/adoption.ts';
import { attemptEnd } from '../../shared/rules/attempt-end.ts';
import { type Move, move, record } from '../../shared/rules/image-status.ts';
import { digestOf } from '../../shared/rules/names.ts';
import { sayFault } from '../../shared/rules/policy.ts';
import { advance, type World } from './advance.ts';
import type { Observed } from './observed.ts';
import { byPlace, isQueued, placesOf } from './queue.ts';
import { slots } from './slots.ts';

/** A pass writes to this many newly seen images at most; its own writes wake the next. */
const freshPerPass = 25;

/**
 * Moves images into and out of the queue, then gives free slots to those that waited longest.
 * Order: slot (the claim) → status → DataVolume (the effect); a crash in between is taken up where it happened.
 */
export function decide(observed: Observed): Action[] {
  const { images, nowMs } = observed;
  const fresh = images.filter((image) => !image.status?.phase && !image.metadata.deletionTimestamp);
  const places = placesOf(fresh, images);
  const world: World = { ...observed, places };
  const inTurn = new Set(
    fresh
      .map(({ metadata: { uid } }) => ({ uid, queuedAt: places.get(uid) ?? '' }))
      .sort(byPlace)
      .slice(0, freshPerPass)
      .map(({ uid }) => uid),
  );
  const moved = new Map<string, VMDiskImage>();
  const inOrder = [...images].sort((a, b) => orderOf(a, places).localeCompare(orderOf(b, places)));
  const moves = inOrder.flatMap((image) => {
    const step = advance(image, world);
    if (!step) return isQueued(image) || isAdopting(image) ? finalizer(image) : [];
    if (!image.status?.phase && !inTurn.has(image.metadata.uid)) return [];
    const actions = move(image, { ...step, nowMs });
    const next = afterwards(image, actions);
    // What was queued just now is judged before it may be given a slot.
    const verdict = step.to === 'Queued' ? advance(next, world) : undefined;
    const judged = verdict ? move(next, { ...verdict, nowMs }) : [];
    moved.set(image.metadata.uid, afterwards(next, judged));
    return [
      ...actions,
      // After the status: this write raises the resourceVersion that tells apart who came first within a second.
      ...finalizer(image),
      ...judged,
      ...interrupted(image, step, nowMs),
      ...rebuiltStatus(image, step),
    ];
  });
  const now = images.map((image) => moved.get(image.metadata.uid) ?? image);
  const waitsUnseen = fresh
    .filter(({ metadata }) => !inTurn.has(metadata.uid))
    .map(({ metadata }) => places.get(metadata.uid) ?? '');
  return [...policyFaults(observed), ...moves, ...slots(observed, now, waitsUnseen.sort()[0])];
}

/** New images come in the order of their places, so that whoever watches sees the queue grow as it is. */
const orderOf = ({ metadata, status }: VMDiskImage, places: ReadonlyMap<string, string>) =>
  status?.phase ? '' : (places.get(metadata.uid) ?? '');

/** The image as it will be once these actions are done, so that one pass can queue it and start it. */
function afterwards(image: VMDiskImage, actions: readonly Action[]): VMDiskImage {
  const patch = actions.find((action) => action.do === 'patchStatus')?.status ?? {};
  const status = Object.entries({ ...image.status, ...patch }).filter(([, value]) => value !== null);
  return { ...image, status: Object.fromEntries(status) };
}

/** An attempt that start-sync itself ends: by a newer revision, or because its DataVolume was refused. */
function interrupted(image: VMDiskImage, { to, reason }: { to: string; reason: string }, nowMs: number): Action[] {
  if (image.status?.phase !== 'Syncing') return [];
  const result = to === 'Failed' ? 'failure' : 'superseded';
  return attemptEnd(image, { result, reason, nowMs, isUnstarted: image.status.importer === undefined });
}

/** A status that was wiped or garbled is said to have been, once: what it held beside the attempts is lost. */
function rebuiltStatus(image: VMDiskImage, { fields }: Pick<Move, 'fields'>): Action[] {
  if (image.status?.phase || !fields?.attempt) return [];
  const message = `The status was empty or not readable; rebuilt from the DataVolumes: ${fields.attempt} attempts so far.`;
  return [record(image, true, 'StatusRebuilt', message, image.metadata.resourceVersion)];
}

/** None can be put on what is being deleted. */
const finalizer = ({ metadata, ...image }: VMDiskImage): Action[] =>
  metadata.finalizers?.includes(diskImageFinalizer) || metadata.deletionTimestamp
    ? []
    : [
        {
          do: 'patchMetadata',
          resource: VMDiskImage,
          of: { ...image, metadata },
          metadata: { finalizers: [...(metadata.finalizers ?? []), diskImageFinalizer] },
        },
      ];

function policyFaults({ policy, policyMap }: Observed): Action[] {
  if (policy.faults.length === 0 || !policyMap) return [];
  const message = `${policy.faults.map(sayFault).join('; ')}. Nothing that depends on it starts until it is mended.`;
  return [
    {
      do: 'record',
      about: policyMap,
      type: 'Warning',
      reason: 'InvalidPolicy',
      message,
      once: digestOf(policy.faults),
    },
  ];
}
