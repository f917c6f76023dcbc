import { type Action, inStages, requeueNamed } from '../../shared/actions.ts';
import { byPlace, isQueued } from '../../shared/images/queue.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { isFinished, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { referenceOf } from '../../shared/kinds/resource.ts';
import { policyRef } from '../../shared/policy.ts';
import type { Gathered, Observed } from './observed.ts';
import { isNew, mostFirst, mostOthers, placesOf } from './queue/new-images.ts';
import { aheadOf, correctPlaces } from './queue/place.ts';
import { assignSlots, awaitInspections } from './slots/assign-slots.ts';
import { corrections, policyFaults } from './status.ts';
import { type Transitioned, takeTransition } from './transition/take-transition.ts';
import { publishUnsettled, type Unsettled } from './unsettled.ts';

/**
 * The decisions of one reconcile. One assigns the slots and queues as many new images as could get one. Each other new image is queued by a
 * decision of its own, performed beside the next reconciles, so that a slot that becomes free waits for no crowd of new images.
 */
export function split(gathered: Gathered | Unsettled): (Observed | Unsettled)[] {
  if ('unsettled' in gathered) return [gathered];
  const { images, unfinished, policy, beside } = gathered;
  const newImages = images.filter(isNew);
  const places = placesOf(newImages, unfinished);
  const waiting = unfinished.filter(isQueued).length;
  const common = { ...gathered, places, waiting, ahead: aheadOf(images, places) };
  const alone = (image: VMDiskImage): Observed => ({
    ...common,
    ...{ images: [image], assignsSlots: false },
  });
  const placeOf = ({ metadata: { uid } }: VMDiskImage) => ({ uid, queuedAt: places.get(uid) ?? '' });
  const inOrder = newImages
    .filter(({ metadata }) => !beside.isAwaited && !gathered.undecided?.has(metadata.uid))
    .sort((a, b) => byPlace(placeOf(a), placeOf(b)));
  let free = policy.values.concurrency - images.filter(isQueued).length;
  const first = new Set<VMDiskImage>();
  for (const image of inOrder.slice(0, mostFirst)) {
    if (free <= 0) break;
    first.add(image);
    // An image that adopts a snapshot, or that fails, leaves the slot to the next.
    if (isQueued(takeTransition(image, alone(image)).next)) free--;
  }
  const others = inOrder.filter((image) => !first.has(image)).slice(0, mostOthers(beside));
  const notFirst = newImages.filter((image) => !first.has(image)).map(({ metadata }) => metadata.uid);
  const undecided = new Set([...(gathered.undecided ?? []), ...notFirst]);
  return [{ ...common, undecided, assignsSlots: true }, ...others.map(alone)];
}

/** The limit of transitions a reconcile, beside images with a slot: the deletion of a class fails every waiting image. */
const transitionsPerReconcile = 50;

/** The limit of messages and conditions that a sweep or an audit corrects. */
const correctionsPerSweep = 200;

/**
 * Moves images into and out of the queue, gives free slots to those that waited longest, then writes whatever else is due. If the writes exceed
 * the limit, all of them follow the slots, and the next reconciles do the rest.
 * Order: slot (the claim) → status → DataVolume (the effect). After a crash in between the next reconcile continues there.
 */
export function decide(observed: Observed | Unsettled): Action[] {
  if ('unsettled' in observed) return publishUnsettled(observed);
  const orderOf = ({ image }: Transitioned) =>
    image.status?.phase ? '' : (observed.places.get(image.metadata.uid) ?? '');
  // 1. Transitions. New images are written in the order of their places, so that a watcher sees the queue grow in order.
  const transitioned = observed.images
    .map((image) => takeTransition(image, observed))
    .sort((a, b) => orderOf(a).localeCompare(orderOf(b)));
  if (!observed.assignsSlots) return [...actionsOf(transitioned), ...awaitInspections(observed, transitioned)];
  // 2. Slots, and the attempts of those that hold one.
  const { holders, actions, begun } = assignSlots(observed, transitioned);
  // 3. The images without a slot: transitions up to the limit, and corrections.
  const holding = new Set(holders.map(({ uid }) => uid));
  const others = transitioned.filter(({ image }) => !holding.has(image.metadata.uid));
  const writes = others.filter(isWrite);
  const isOther = new Set(writes);
  const [now, later] = [writes.slice(0, transitionsPerReconcile), writes.slice(transitionsPerReconcile)];
  // An image that cannot be queued is to keep the slots from those behind it, and one that leaves the queue is not overtaken.
  // Nothing else comes before the slots.
  const first = later.length > 0 ? [] : now.filter(({ image, next }) => isQueued(image) || isQueued(next));
  const unchanged = others.filter((one) => !isWrite(one)).map(({ next }) => next);
  const images = transitioned.map(({ next }) => next);
  const places = correctPlaces(observed, images, holders);
  return [
    ...policyFaults(observed),
    ...actionsOf(transitioned.filter((one) => !isOther.has(one))),
    ...actionsOf(first),
    ...actions,
    // Before the groups: a group that fails ends what follows without a group.
    ...requeuePostponed(observed, later),
    // The DataVolumes in the order of the queue, after the status of each. The next hand-over waits for all of these writes.
    ...inStages([
      begun,
      [
        ...now.filter((one) => !first.includes(one)).map(({ actions }) => actions),
        ...corrections(observed, unchanged, places).slice(0, correctionsPerSweep),
      ],
    ]),
  ];
}

const actionsOf = (transitioned: readonly Transitioned[]) => transitioned.flatMap(({ actions }) => actions);

const isWrite = ({ actions }: Transitioned) => actions.some((action) => 'resource' in action);

/** The policy stands for all that wait: an event about it lists them. */
function requeuePostponed({ postponed = [] }: Observed, later: readonly Transitioned[]): Action[] {
  const images = later.map(({ image }) => image);
  const finished = images.filter(({ status }) => isFinished(status?.phase));
  return [
    ...(finished.length < images.length ? [requeueNamed(ConfigMap, policyRef)] : []),
    ...[...finished.map(referenceOf), ...postponed].map((metadata) => requeueNamed(VMDiskImage, metadata)),
  ];
}
