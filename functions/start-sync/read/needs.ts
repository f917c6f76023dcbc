import { isQueued } from '../../../shared/images/queue.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { byCreation, isNew, mostFirst, mostOthers } from '../queue/new-images.ts';
import { mayHaveAttempt, mayHaveLostStatus, type readHolders } from './attempts.ts';
import { selectHead } from './focus.ts';
import { isAmong, type Reader, uidsOf } from './reader.ts';
import type { Slots } from './slots.ts';

/** The images in focus, by what else has to be read of them. */
export function selectNeeds(
  { nowMs, beside }: Reader,
  slots: Slots,
  images: readonly VMDiskImage[],
  ofHolders: Awaited<ReturnType<typeof readHolders>>,
) {
  const { holders = [] } = slots;
  const newImages = images.filter((image) => isNew(image) && !beside.busy.has(image.metadata.uid)).sort(byCreation);
  // Until the next reconcile for them begins, none is looked at.
  const most = beside.isAwaited ? 0 : mostFirst + mostOthers(beside);
  const statusLost = newImages.filter((image) => mayHaveLostStatus(image, nowMs));
  const moreNew = uidsOf(statusLost.slice(most));
  const { first, next } = selectHead(images, { ...slots, nowMs, holders, ...ofHolders });
  const isHolder = isAmong(holders.map(({ uid }) => uid));
  return {
    /** By uid: their snapshots show which revision is next. */
    statusLost: uidsOf(statusLost.slice(0, most)),
    /** By uid: the same, beyond the limit of a reconcile. */
    moreNew,
    untracked: selectUntracked(images, slots, moreNew, nowMs),
    /** They may be queued or get a slot. */
    inputs: [
      ...(next.length > 0 ? first : []),
      ...newImages.slice(0, most),
      ...images.filter((image) => mayBeDue(image, nowMs)),
    ],
    /** They may begin, and another image may have their content. The holders, too: a process may have ended before their attempts began. */
    donors: [...next, ...images.filter((image) => isQueued(image) && isHolder(image))],
  };
}

/** By uid, those that may have an attempt although they hold no slot. Without a readable Lease, everything was listed just now. */
export function selectUntracked(
  images: readonly VMDiskImage[],
  { holders }: Slots,
  moreNew: readonly string[],
  nowMs: number,
): string[] {
  if (!holders) return [];
  const isKnown = isAmong([...holders.map(({ uid }) => uid), ...moreNew]);
  return uidsOf(images.filter((image) => mayHaveAttempt(image, nowMs) && !isKnown(image)));
}

/** Its back-off is over, unless a user removed its end. */
const mayBeDue = ({ status }: VMDiskImage, nowMs: number) =>
  status?.phase === 'Retrying' && !(Date.parse(status.nextAttemptAt ?? '') > nowMs);
