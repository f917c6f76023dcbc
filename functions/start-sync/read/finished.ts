import { distinct } from '../../../shared/distinct.ts';
import { subjectsOf, type Unreadable } from '../../../shared/function.ts';
import type { Holder } from '../../../shared/images/slots.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference, referenceIn } from '../../../shared/kinds/resource.ts';
import { orUnreadable, partition } from '../../../shared/runtime/unreadable.ts';
import type { Gathered } from '../observed.ts';
import { isUnacknowledged, lacksStalled } from '../status.ts';
import { mayHeal } from '../transition/next-transition.ts';
import { newRevision } from '../transition/revision.ts';
import { lacksFinalizer } from '../transition/take-transition.ts';
import type { Focus } from './focus.ts';
import { isAmong, type Reader, uidsOf } from './reader.ts';

export interface Finished extends Pick<Gathered, 'postponed'> {
  finished: readonly VMDiskImage[];
  unread: readonly Unreadable[];
}

/** All but those that are as wanted. */
export const canTransition = (image: VMDiskImage) => isOutdated(image) || mayHeal(image);

/** It is not as wanted, whatever else there is. */
export const isOutdated = (image: VMDiskImage) =>
  newRevision(image) !== undefined ||
  !image.status?.phase ||
  lacksFinalizer(image) ||
  isUnacknowledged(image) ||
  lacksStalled(image);

/** The limit of finished images that a reconcile reads because events name them. */
const namedPerReconcile = 100;

/** The finished images that an event or a page of an audit names, or that still hold a slot. */
export async function readFinished(
  { kube, batch }: Reader,
  focus: Focus,
  holders: readonly Holder[],
): Promise<Finished> {
  const isInFocus = isAmong(uidsOf(focus.images));
  const inFocus = new Set(focus.images.map(({ metadata }) => keyOf(metadata)));
  const wanted = [...holders.map(({ image }) => referenceIn(image)), ...subjectsOf(batch, VMDiskImage)];
  const named = distinct(wanted, keyOf).filter((ref) => !inFocus.has(keyOf(ref)));
  const imageAt = async (ref: ObjectReference) =>
    focus.live.has(keyOf(ref)) ? focus.live.get(keyOf(ref)) : kube.get(VMDiskImage, ref);
  const found = await Promise.all(named.slice(0, namedPerReconcile).map((ref) => orUnreadable(ref, imageAt(ref))));
  const { read, unreadable: unread } = partition(found);
  return {
    finished: read.filter((image) => !isInFocus(image)),
    postponed: named.slice(namedPerReconcile),
    unread,
  };
}
