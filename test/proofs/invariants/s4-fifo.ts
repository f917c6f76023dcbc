import { adoptSnapshot, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, Step } from './follow.ts';
import { type Grant, grantOf } from './grant.ts';
import { policiesOf } from './reconcile.ts';
import { type Slots, slotsIn } from './slots-of.ts';

/** The place of an image in the queue from a resourceVersion on; undefined while it waits for no slot. */
interface QueuePlace {
  fromRevision: number;
  fromMs: number;
  place: { lowest: string; highest: string } | undefined;
}

/** The allowed clock skew, if the history does not say more, in milliseconds. */
const leewayMs = 1000;

/**
 * S4, first in, first out: an image gets a slot only if no image with an earlier place has waited since the reconcile began to
 * list, and whose namespace may hold another slot. That is at `since` or, if that was not recorded, a second before the time in the Lease. A retry and a new revision go to
 * the end of the queue. An image that is not yet Queued has its place by the second of its creation, which is the API server's clock; the
 * order within the clock skew to start-sync is not judged. One whose status a user removed has a place once it is Queued again: a cache that is as new as a newer image may not have
 * heard of that yet.
 */
export const s4Fifo: Invariant = {
  number: 'S4',
  rule: 'an image gets a slot only after those that waited longer',
  judge: (state, { skewMs = leewayMs }) => {
    const line = new Map<string, QueuePlace[]>();
    const begun = new Set([...state.images].filter(([, { status }]) => status?.phase).map(([uid]) => uid));
    for (const [uid, image] of state.images)
      line.set(uid, [{ fromRevision: 0, fromMs: Number.NEGATIVE_INFINITY, place: placeOf(image, true, skewMs) }]);
    return {
      image: ({ object, isGone, revision, change }) => {
        const { uid } = object.metadata;
        const places = line.get(uid);
        if (object.status?.phase) begun.add(uid);
        const place = isGone ? undefined : placeOf(object, !begun.has(uid), skewMs);
        const last = places?.at(-1)?.place;
        if (places && place?.lowest === last?.lowest && place?.highest === last?.highest) return undefined;
        const entry = { fromRevision: revision, fromMs: change.atMs, place };
        if (places) places.push(entry);
        else line.set(uid, [{ fromRevision: 0, fromMs: Number.NEGATIVE_INFINITY, place: undefined }, entry]);
        return undefined;
      },
      lease: (step) => {
        const grant = grantOf(step);
        return grant && overtakenBy(grant, step, line);
      },
    };
  },
};

function overtakenBy({ added, began, slots }: Grant, step: Step, line: ReadonlyMap<string, QueuePlace[]>) {
  const during = (places: readonly QueuePlace[]) => {
    const first = places.findLastIndex(({ fromRevision, fromMs }) =>
      began.revision === undefined ? fromMs <= began.ms - leewayMs : fromRevision <= began.revision,
    );
    return places.slice(Math.max(0, first));
  };
  for (const { uid, image } of added) {
    const own = during(line.get(uid) ?? []).flatMap(({ place }) => (place ? [place.lowest] : []));
    const place = own.sort()[0];
    if (place === undefined) continue;
    for (const [other, places] of line) {
      if (isFull(other, slots, step)) continue;
      if (places.at(-1)?.place === undefined || slots.has(other) || step.slotsBefore?.has(other)) continue;
      const waited = during(places);
      if (waited.every((entry) => entry.place !== undefined && `${entry.place.highest} ${other}` < place))
        return `${image} got a slot before ${step.state.images.get(other)?.metadata.name ?? other}, which waited longer`;
    }
  }
  return undefined;
}

/** Its namespace has all of the slots that some policy gives it that the reconcile may have read. */
function isFull(uid: string, slots: Slots, step: Step): boolean {
  const namespace = step.state.images.get(uid)?.metadata.namespace ?? '';
  const held = Math.max(slotsIn(slots, namespace), slotsIn(step.slotsBefore ?? new Map(), namespace));
  return policiesOf(step).some(({ values }) => held >= values.slotsPerNamespace);
}

/** The place as text that sorts like the queue. An image that is not yet Queued has the bounds of the clock skew. */
function placeOf({ metadata, status }: VMDiskImage, isNew: boolean, skewMs: number): QueuePlace['place'] {
  if (metadata.deletionTimestamp) return undefined;
  if (status?.phase === 'Queued') {
    const place = `${status.queuedAt ?? ''} ${metadata.uid}`;
    return { lowest: place, highest: status.queuedAt ?? '' };
  }
  if (!isNew || status?.phase || metadata.annotations?.[adoptSnapshot]) return undefined;
  const second = metadata.creationTimestamp.slice(0, 19);
  return { lowest: second, highest: new Date(Date.parse(`${second}Z`) + skewMs - 1).toISOString() };
}
