import { isDeepStrictEqual } from 'node:util';
import { adoptSnapshot, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, Step } from './follow.ts';
import { type Grant, grantOf } from './grant.ts';
import { contentAwaited, verdictOf, wantedContent } from './plain-rules.ts';
import { policiesOf } from './reconcile.ts';
import { type Slots, slotsIn } from './slots-of.ts';

/** The place of an image in the queue from a resourceVersion on; undefined while it waits for no slot. */
interface QueuePlace {
  fromRevision: number;
  fromMs: number;
  place: { lowest: string; highest: string; isInspected: boolean } | undefined;
  /** The content that it wants, and that which it downloads so that others wait for it. */
  wanted: string | undefined;
  awaited: string | undefined;
}

/** The allowed clock skew, if the history does not say more, in milliseconds. */
const leewayMs = 1000;

/**
 * S4, first in, first out: an image gets a slot only if no image with an earlier place has waited since the reconcile began to
 * list, and whose namespace may hold another slot. That is at `since` or, if that was not recorded, a second before the time in the Lease. A retry and a new revision go to
 * the end of the queue. An image that is not yet Queued has its place by the second of its creation, which is the API server's clock; the
 * order within the clock skew to start-sync is not judged. Nor is an image overtaken that waits for another of its namespace to have
 * downloaded its content; or one whose source is not inspected yet, unless no policy asks for that. A cache is as new as the image that
 * gets the slot, and may not have heard of what is newer: that another was inspected, or has a place again after a user removed its status.
 */
export const s4Fifo: Invariant = {
  number: 'S4',
  rule: 'an image gets a slot only after those that waited longer',
  judge: (state, { skewMs = leewayMs }) => {
    const line = new Map<string, QueuePlace[]>();
    const begun = new Set([...state.images].filter(([, { status }]) => status?.phase).map(([uid]) => uid));
    const entryOf = (image: VMDiskImage, isNew: boolean, fromRevision: number, fromMs: number): QueuePlace => ({
      fromRevision,
      fromMs,
      place: placeOf(image, isNew, skewMs),
      wanted: wantedContent(image),
      awaited: contentAwaited(image, false),
    });
    for (const [uid, image] of state.images) line.set(uid, [entryOf(image, true, 0, Number.NEGATIVE_INFINITY)]);
    return {
      image: ({ object, isGone, revision, change }) => {
        const { uid } = object.metadata;
        const places = line.get(uid);
        if (object.status?.phase) begun.add(uid);
        const entry = isGone
          ? { ...nowhere, fromRevision: revision, fromMs: change.atMs }
          : entryOf(object, !begun.has(uid), revision, change.atMs);
        const last = places?.at(-1);
        if (
          last &&
          isDeepStrictEqual({ ...last, fromRevision: 0, fromMs: 0 }, { ...entry, fromRevision: 0, fromMs: 0 })
        )
          return undefined;
        if (places) places.push(entry);
        else line.set(uid, [nowhere, entry]);
        return undefined;
      },
      lease: (step) => {
        const grant = grantOf(step);
        return grant && overtakenBy(grant, step, line);
      },
    };
  },
};

const nowhere: QueuePlace = {
  fromRevision: 0,
  fromMs: Number.NEGATIVE_INFINITY,
  place: undefined,
  wanted: undefined,
  awaited: undefined,
};

function overtakenBy({ added, began, slots }: Grant, step: Step, line: ReadonlyMap<string, QueuePlace[]>) {
  const during = (places: readonly QueuePlace[]) => {
    const first = places.findLastIndex(({ fromRevision, fromMs }) =>
      began.revision === undefined ? fromMs <= began.ms - leewayMs : fromRevision <= began.revision,
    );
    return places.slice(Math.max(0, first));
  };
  /** Another image of its namespace downloads its content, or did since the reconcile began, or is about to. */
  const isAwaiting = (uid: string, wanted: string | undefined) =>
    wanted !== undefined &&
    [...line].some(([other, places]) => {
      if (other === uid) return false;
      if (during(places).some(({ awaited }) => awaited === wanted)) return true;
      const image = step.state.images.get(other);
      const isHolder = slots.has(other) || step.slotsBefore?.has(other) === true;
      return image !== undefined && contentAwaited(image, isHolder) === wanted;
    });
  const isOff = policiesOf(step).every(({ values }) => values.inspectTimeout === 0);
  for (const { uid, image } of added) {
    const own = during(line.get(uid) ?? []).flatMap(({ place }) => (place ? [place.lowest] : []));
    const place = own.sort()[0];
    const knownRevision = step.state.times.get(uid)?.revision ?? 0;
    if (place === undefined || isLetAhead(uid, step)) continue;
    for (const [other, places] of line) {
      if (isFull(other, slots, step)) continue;
      if (places.at(-1)?.place === undefined || slots.has(other) || step.slotsBefore?.has(other)) continue;
      const waited = during(places);
      const isAhead = ({ place: its, fromRevision }: QueuePlace) =>
        its !== undefined &&
        (isOff || (its.isInspected && fromRevision <= knownRevision)) &&
        `${its.highest} ${other}` < place;
      if (waited.every(isAhead) && !waited.some(({ wanted }) => isAwaiting(other, wanted)))
        return `${image} got a slot before ${step.state.images.get(other)?.metadata.name ?? other}, which waited longer`;
    }
  }
  return undefined;
}

/** An admin let it go ahead of those that a spent budget keeps, by some policy that the reconcile may have read. */
const isLetAhead = (uid: string, step: Step) =>
  step.state.images.get(uid)?.metadata.annotations?.['pelotech.ot/ignore-budget'] === 'true' &&
  policiesOf(step).some(({ values }) => values.egressBudget);

/** Its namespace has all of the slots that some policy gives it that the reconcile may have read. */
function isFull(uid: string, slots: Slots, step: Step): boolean {
  const namespace = step.state.images.get(uid)?.metadata.namespace ?? '';
  const held = Math.max(slotsIn(slots, namespace), slotsIn(step.slotsBefore ?? new Map(), namespace));
  return policiesOf(step).some(({ values }) => held >= values.slotsPerNamespace);
}

/** The place as text that sorts like the queue. An image that is not yet Queued has the bounds of the clock skew. */
function placeOf(image: VMDiskImage, isNew: boolean, skewMs: number): QueuePlace['place'] {
  const { metadata, status } = image;
  const isInspected = verdictOf(image) !== 'open';
  if (metadata.deletionTimestamp) return undefined;
  if (status?.phase === 'Queued') {
    const place = `${status.queuedAt ?? ''} ${metadata.uid}`;
    return { lowest: place, highest: status.queuedAt ?? '', isInspected };
  }
  if (!isNew || status?.phase || metadata.annotations?.[adoptSnapshot]) return undefined;
  const second = metadata.creationTimestamp.slice(0, 19);
  return { lowest: second, highest: new Date(Date.parse(`${second}Z`) + skewMs - 1).toISOString(), isInspected };
}
