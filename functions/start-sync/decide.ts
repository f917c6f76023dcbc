import { type Action, requeueNamed, together } from '../../shared/actions.ts';
import { nextLookMs } from '../../shared/backoff.ts';
import { attemptEnd } from '../../shared/images/attempt-end.ts';
import { egressIn } from '../../shared/images/egress.ts';
import { byPlace, isQueued } from '../../shared/images/queue.ts';
import { afterwards, type Transition, transition } from '../../shared/images/status.ts';
import { stopOf } from '../../shared/images/stopped.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import {
  diskImageFinalizer,
  isFinished,
  isOfAnotherVersion,
  phases,
  VMDiskImage,
} from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { type ObjectReference, referenceOf } from '../../shared/kinds/resource.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { digestOf } from '../../shared/kubernetes/names.ts';
import { describeFault, policyRef } from '../../shared/policy.ts';
import { strayEntries } from '../../shared/policy-entries.ts';
import type { Reason } from '../../shared/reasons/reason.ts';
import type { Gathered, Observed } from './observed.ts';
import { isNew, placesOf } from './queue/new-images.ts';
import { aheadOf, correctPlaces, notQueued, placeOfNew } from './queue/place.ts';
import { correctWait } from './queue/waiting.ts';
import { assignSlots, awaitInspections, type Moved } from './slots/assign-slots.ts';
import { lacksInput } from './transition/inputs.ts';
import { nextTransition } from './transition/next-transition.ts';
import { correctStalled } from './transition/stalled.ts';

/** The limit of new images that a reconcile writes to. */
export const newImagesPerReconcile = 50;

/**
 * The decisions of one reconcile. One assigns the slots and queues as many new images as could get one. Each other new image is queued by a
 * decision of its own, performed concurrently, so that freeing a slot never waits for a crowd of new images.
 */
export function split(seen: Gathered): Observed[] {
  const newImages = seen.images.filter(isNew);
  const places = placesOf(newImages, seen.unfinished);
  const common = {
    ...seen,
    places,
    waiting: seen.unfinished.filter(isQueued).length,
    ahead: aheadOf(seen.images, places),
  };
  const inOrder = newImages
    .filter(({ metadata }) => !seen.undecided?.has(metadata.uid))
    .map((image) => ({ image, uid: image.metadata.uid, queuedAt: places.get(image.metadata.uid) ?? '' }))
    .sort(byPlace);
  const ordered = inOrder.slice(0, newImagesPerReconcile);
  const alone = (image: VMDiskImage, postponed: readonly ObjectReference[] = []): Observed => {
    const admitted = new Set([image.metadata.uid]);
    return { ...common, images: [image], admitted, assignsSlots: false, postponed, lacking: [] };
  };
  let free = seen.policy.values.concurrency - seen.images.filter(isQueued).length;
  const admitted = new Set<string>();
  for (const { image, uid } of ordered) {
    if (free <= 0) break;
    admitted.add(uid);
    // An image that adopts a snapshot, or that fails, leaves the slot to the next.
    if (isQueued(moveOf(image, alone(image)).next)) free--;
  }
  // The next reconcile follows the last write of these, so that a crowd waits for no event, and that writes which fail are not repeated at once.
  const others = ordered.filter(({ uid }) => !admitted.has(uid));
  const [next] = (seen.moreNew ?? []).concat(
    inOrder.slice(newImagesPerReconcile).map(({ image }) => referenceOf(image)),
  );
  const left = next ? [next] : [];
  const last = others.at(-1);
  return [
    { ...common, postponed: [...(seen.postponed ?? []), ...(last ? [] : left)], admitted, assignsSlots: true },
    ...others.map((one) => alone(one.image, one === last ? left : [])),
  ];
}

/** The limit of transitions a reconcile, beside images with a slot: the deletion of a class fails every waiting image. */
const transitionsPerReconcile = 50;

/** The limit of messages and conditions that a sweep or an audit corrects. */
const correctionsPerSweep = 200;

/**
 * Moves images into and out of the queue, then gives free slots to those that waited longest. If transitions exceed the limit, they follow
 * the slots, and the next reconciles do the rest.
 * Order: slot (the claim) → status → DataVolume (the effect). After a crash in between the next reconcile continues there.
 */
export function decide(observed: Observed): Action[] {
  const { places, assignsSlots } = observed;
  const moves = observed.images
    .map((image) => moveOf(image, observed))
    .sort((a, b) => orderOf(a.image, places).localeCompare(orderOf(b.image, places)));
  if (!assignsSlots)
    return [...actionsOf(moves), ...awaitInspections(observed, moves), ...postponedLooks(observed, [])];
  const { holders, actions, begun } = assignSlots(observed, moves);
  const holding = new Set(holders.map(({ uid }) => uid));
  const isOther = (move: Moved) => isWrite(move) && !holding.has(move.image.metadata.uid);
  const others = moves.filter(isOther);
  const [now, later] = [others.slice(0, transitionsPerReconcile), others.slice(transitionsPerReconcile)];
  const isCrowd = later.length > 0;
  const left = moves.filter((move) => !isWrite(move) && !holding.has(move.image.metadata.uid));
  const placed = new Map(
    correctPlaces(
      observed,
      moves.map(({ next }) => next),
      holders,
    ),
  );
  const byQueue = new Map([...placed.keys()].map((uid, index) => [uid, index]));
  const corrections = left
    .toSorted((a, b) => (byQueue.get(a.image.metadata.uid) ?? 0) - (byQueue.get(b.image.metadata.uid) ?? 0))
    .map(({ next }) => {
      const [wrong] = [...correctWait(next, observed), ...correctStalled(next, observed)];
      return inOneWrite(next, wrong, placed.get(next.metadata.uid));
    })
    .filter(({ length }) => length > 0);
  return [
    ...policyFaults(observed),
    ...actionsOf(moves.filter((move) => !isOther(move))),
    // An image that cannot be queued is to keep the slots from those behind it, so this comes first.
    ...(isCrowd ? [] : actionsOf(now)),
    ...actions,
    // Before the groups: a group that fails ends what follows without a group.
    ...postponedLooks(observed, later),
    ...together([
      ...begun,
      ...(isCrowd ? now.map((move) => move.actions) : []),
      ...corrections.slice(0, correctionsPerSweep),
    ]),
  ];
}

/** The correction of a status, with these fields as well. */
function inOneWrite(image: VMDiskImage, wrong: Action | undefined, fields: object | undefined): Action[] {
  if (!fields) return wrong ? [wrong] : [];
  const before = wrong?.do === 'patchStatus' ? wrong.status : {};
  return [{ do: 'patchStatus', resource: VMDiskImage, of: image, status: { ...before, ...fields } }];
}

const actionsOf = (moves: readonly Moved[]) => moves.flatMap(({ actions }) => actions);

const isWrite = ({ actions }: Moved) => actions.some((action) => 'resource' in action);

function moveOf(image: VMDiskImage, observed: Observed): Moved {
  const { nowMs, admitted, undecided } = observed;
  const { uid } = image.metadata;
  const stays: Moved = { image, next: image, actions: [] };
  if (undecided?.has(uid) || (isNew(image) && !admitted.has(uid))) return stays;
  const found = nextTransition(image, observed);
  const step = found && withPlace(found, image, observed);
  if (!step) {
    const others = [...acknowledge(image), ...finalizer(image), ...unknownPhase(image), ...lookAgain(image, nowMs)];
    return image.status?.phase ? { ...stays, actions: others } : stays;
  }
  const actions = transition(image, { ...step, nowMs });
  const moved = afterwards(image, actions);
  // A newly queued image is checked before it may get a slot.
  const verdict = step.to === 'Queued' ? nextTransition(moved, observed) : undefined;
  const judged = verdict ? transition(moved, { ...withPlace(verdict, moved, observed), nowMs }) : [];
  const next = afterwards(moved, judged);
  return {
    image,
    next,
    actions: [
      ...actions,
      // After the status: this write raises the resourceVersion, which decides who came first within a second.
      ...finalizer(image),
      ...judged,
      ...interrupted(image, step, observed),
      ...rebuiltStatus(image, step),
      ...lookAgain(next, nowMs),
    ],
  };
}

/** Writes the place with the transition into the queue, and removes it with the one out of it. */
function withPlace<T extends Pick<Transition, 'to' | 'fields'>>(step: T, image: VMDiskImage, observed: Observed): T {
  const { place, startsAbout } = image.status ?? {};
  if (step.to === 'Queued')
    return { ...step, fields: { ...step.fields, place: placeOfNew(image, observed), startsAbout: null } };
  return place || startsAbout ? { ...step, fields: { ...step.fields, ...notQueued } } : step;
}

/** The first audit after this finds it. */
const mostLooksMs = 600_000;

/** No event reports that a Secret was created: its image is looked at ever more seldom, later only by audits. */
function lookAgain(image: VMDiskImage, nowMs: number): Action[] {
  const failedMs = nowMs - Date.parse(image.status?.history?.at(-1)?.time ?? '');
  if (!lacksInput(image) || !(failedMs < mostLooksMs)) return [];
  return [requeueNamed(VMDiskImage, referenceOf(image), nextLookMs(failedMs, 15_000))];
}

/** The images that an audit hands to later reconciles, each second. */
const lookedAtPerSecond = 50;

/** The policy stands for all that wait: an event about it lists them. */
function postponedLooks({ postponed = [], lacking = [] }: Observed, later: readonly Moved[]): Action[] {
  const images = later.map(({ image }) => image);
  const finished = images.filter(({ status }) => isFinished(status?.phase));
  return [
    ...(finished.length < images.length ? [requeueNamed(ConfigMap, policyRef)] : []),
    ...[...finished.map(referenceOf), ...postponed].map((metadata) => requeueNamed(VMDiskImage, metadata)),
    ...lacking.map((metadata, index) =>
      requeueNamed(VMDiskImage, metadata, 1000 * Math.floor(index / lookedAtPerSecond)),
    ),
  ];
}

/** New images are written in the order of their places, so that a watcher sees the queue grow in order. */
const orderOf = ({ metadata, status }: VMDiskImage, places: ReadonlyMap<string, string>) =>
  status?.phase ? '' : (places.get(metadata.uid) ?? '');

/** Records an attempt that start-sync ends: for a newer revision, or because its DataVolume was refused. */
function interrupted(
  image: VMDiskImage,
  { to, reason }: { to: string; reason: Reason },
  { nowMs, policy }: Observed,
): Action[] {
  if (image.status?.phase !== 'Syncing') return [];
  const result = to === 'Failed' ? 'failure' : 'superseded';
  return attemptEnd(image, { result, reason, nowMs, policy, isUnstarted: image.status.importer === undefined });
}

/** Reports once that another version of the functions wrote the phase. The image is not changed otherwise. */
function unknownPhase(image: VMDiskImage): Action[] {
  if (!isOfAnotherVersion(image)) return [];
  const phase = image.status?.phase ?? '';
  const message = `Expected a phase of ${phases.join(', ')}, found ${JSON.stringify(phase)}: another version of the functions wrote it. The image is left as it is until that version, or a newer one, runs.`;
  return [recordEvent(image, true, 'UnknownPhase', message, phase)];
}

/** Reports once that a wiped or invalid status was rebuilt: everything in it but the attempts is lost. */
function rebuiltStatus(image: VMDiskImage, { fields }: Pick<Transition, 'fields'>): Action[] {
  const { revision = 1, attempt = 0 } = fields ?? {};
  if (image.status?.phase || (!attempt && (revision ?? 1) === 1)) return [];
  const message = `The status was empty or not readable; rebuilt from DataVolumes and snapshots: revision ${revision}, ${attempt} attempts so far.`;
  return [recordEvent(image, true, 'StatusRebuilt', message, image.metadata.resourceVersion)];
}

/** The spec has changed since the status was written: kstatus takes the image for one that is under way. */
export const isUnacknowledged = (image: VMDiskImage) => {
  const { generation, deletionTimestamp } = image.metadata;
  const { observedGeneration = -1 } = image.status ?? {};
  return (
    observedGeneration >= 0 && observedGeneration !== generation && !deletionTimestamp && !isOfAnotherVersion(image)
  );
};

/** The change asks for nothing new, or it would be a transition. */
function acknowledge(image: VMDiskImage): Action[] {
  if (!isUnacknowledged(image)) return [];
  const status = { observedGeneration: image.metadata.generation };
  return [{ do: 'patchStatus', resource: VMDiskImage, of: image, status }];
}

/** `kubectl replace` of a manifest removes it. */
export const lacksFinalizer = ({ metadata }: VMDiskImage) => !metadata.finalizers?.includes(diskImageFinalizer);

/** A finalizer cannot be added to an object that is being deleted. */
function finalizer(image: VMDiskImage): Action[] {
  if (!lacksFinalizer(image) || image.metadata.deletionTimestamp) return [];
  const metadata = { finalizers: [...(image.metadata.finalizers ?? []), diskImageFinalizer] };
  return [{ do: 'patchMetadata', resource: VMDiskImage, of: image, metadata }];
}

/** Each by what it says of the policy's keys, so that it is one Event however often the policy is looked at, or edited elsewhere. */
function policyFaults({ policy, policyMap, lease, nowMs, isAboutAll }: Observed): Action[] {
  if (!policyMap || !isAboutAll) return [];
  const warn = (reason: Reason, message: string, of: unknown) =>
    recordEvent(policyMap, true, reason, message, digestOf(of));
  const faults = `${policy.faults.map(describeFault).join('; ')}. Nothing that depends on it starts until it is fixed.`;
  const strays = strayEntries(policyMap).map(({ key }) => key);
  const unread = `No function reads ${strays.join(', ')}: the defaults hold. ot-functions policy lists the names of all keys.`;
  const stop = stopOf(policy, egressIn(lease), nowMs);
  return [
    ...(policy.faults.length > 0 ? [warn('InvalidPolicy', faults, policy.faults)] : []),
    ...(strays.length > 0 ? [warn('UnknownPolicyKey', unread, strays)] : []),
    ...(stop && stop.reason !== 'InvalidPolicy'
      ? [warn(stop.reason, `Nothing starts: ${stop.why}.`, [stop.key, policyMap.data?.[stop.key]])]
      : []),
  ];
}
