import { adoptSnapshot, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, Step } from './follow.ts';
import { type Grant, grantOf } from './grant.ts';

/** Where an image stood in the line, from a resourceVersion on; undefined while it waited for no slot. */
interface Stand {
  fromRevision: number;
  fromMs: number;
  place: { lowest: string; highest: string } | undefined;
}

/** The clocks of a function and of the recorder may be so far apart where nobody recorded when a pass began. */
const leewayMs = 1000;

/**
 * S4, first in, first out: who gets a slot has overtaken nobody that waited, with a place before its own, ever since the
 * deciding pass began its list (DESIGN §10): `since`, or else a second before the time that the pass wrote into the Lease.
 * A retry and a new revision go to the end. Images nobody has queued yet have their place by the second of their creation;
 * within a second nothing is said of them.
 */
export const s4Fifo: Invariant = {
  number: 'S4',
  says: 'who gets a slot overtakes nobody that waited longer',
  judge: (state) => {
    const line = new Map<string, Stand[]>();
    for (const [uid, image] of state.images)
      line.set(uid, [{ fromRevision: 0, fromMs: Number.NEGATIVE_INFINITY, place: placeOf(image) }]);
    return {
      image: ({ object, isGone, revision, change }) => {
        const { uid } = object.metadata;
        const stands = line.get(uid);
        const place = isGone ? undefined : placeOf(object);
        const last = stands?.at(-1)?.place;
        if (stands && place?.lowest === last?.lowest && place?.highest === last?.highest) return undefined;
        const stand = { fromRevision: revision, fromMs: change.atMs, place };
        if (stands) stands.push(stand);
        else line.set(uid, [{ fromRevision: 0, fromMs: Number.NEGATIVE_INFINITY, place: undefined }, stand]);
        return undefined;
      },
      lease: (step) => {
        const grant = grantOf(step);
        return grant && overtakenBy(grant, step, line);
      },
    };
  },
};

function overtakenBy({ added, began, slots }: Grant, step: Step, line: ReadonlyMap<string, Stand[]>) {
  const during = (stands: readonly Stand[]) => {
    const first = stands.findLastIndex(({ fromRevision, fromMs }) =>
      began.revision === undefined ? fromMs <= began.ms - leewayMs : fromRevision <= began.revision,
    );
    return stands.slice(Math.max(0, first));
  };
  for (const { uid, image } of added) {
    const own = during(line.get(uid) ?? []).flatMap(({ place }) => (place ? [place.lowest] : []));
    const place = own.sort()[0];
    if (place === undefined) continue;
    for (const [other, stands] of line) {
      if (stands.at(-1)?.place === undefined || slots.has(other) || step.slotsBefore?.has(other)) continue;
      const waited = during(stands);
      if (waited.every((stand) => stand.place !== undefined && `${stand.place.highest} ${other}` < place))
        return `${image} got a slot before ${step.state.images.get(other)?.metadata.name ?? other}, which waited longer`;
    }
  }
  return undefined;
}

/** The place as text that sorts like the queue; of an image that nobody has queued yet the bounds of its second. */
function placeOf({ metadata, status }: VMDiskImage): Stand['place'] {
  if (metadata.deletionTimestamp) return undefined;
  if (status?.phase === 'Queued') {
    const place = `${status.queuedAt ?? ''} ${metadata.uid}`;
    return { lowest: place, highest: status.queuedAt ?? '' };
  }
  if (status?.phase || metadata.annotations?.[adoptSnapshot]) return undefined;
  const second = metadata.creationTimestamp.slice(0, 19);
  return { lowest: second, highest: `${second}.999999Z` };
}
