import { eligibleOf } from '../../../shared/images/eligible.ts';
import { byPlace, isQueued, nextInQueue, placeOf } from '../../../shared/images/queue.ts';
import { contentOf, contentsUnderWay, waitsForContent, wantedContent } from '../../../shared/images/shared-content.ts';
import { freeFor, type Holder } from '../../../shared/images/slots.ts';
import { unfinished, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, referenceOf } from '../../../shared/kinds/resource.ts';
import type { Gathered } from '../observed.ts';
import { isActiveAttempt, keptBy, stuckAfterMs } from '../slots/occupancy.ts';
import { type HeldImage, hasBegunBefore, type readHolders, withImages } from './attempts.ts';
import { type NamedImages, readLive } from './named.ts';
import { ifFailed, type Reader } from './reader.ts';
import type { Slots } from './slots.ts';

/** The images that a reconcile of events decides about. */
export interface Focus {
  /** Those that events name, that have begun, that are due or new, and the first of the queue. */
  images: readonly VMDiskImage[];
  /** All unfinished ones. */
  unfinished: readonly VMDiskImage[];
  /** What was read live, by key: finished ones, too; undefined if it does not exist. */
  live: ReadonlyMap<string, VMDiskImage | undefined>;
}

type HeldSlots = Pick<Slots, 'policy' | 'bytesLeft'> &
  Pick<Gathered, 'nowMs' | 'dataVolumes' | 'claims' | 'pods' | 'unreadHolders'> & { holders: readonly Holder[] };

/** The unfinished images: those that events can concern or, where that is not known, all. */
export async function readUnfinished(
  { kube, beside, nowMs, isAboutAll }: Reader,
  { policy, bytesLeft, holders = [] }: Slots,
  named: NamedImages | undefined,
  ofHolders: ReturnType<typeof readHolders>,
): Promise<Focus> {
  const focus =
    named &&
    (await readFocus(
      kube,
      named,
      { policy, bytesLeft, holders, nowMs, ...(await ofHolders) },
      beside.busy,
      isAboutAll,
    ).catch(ifFailed));
  if (focus) return isAboutAll ? { ...focus, images: focus.unfinished } : focus;
  const all = await kube.list(VMDiskImage, { fieldSelector: unfinished });
  return { images: all, unfinished: all, live: new Map() };
}

/**
 * Slots are given and freed by what is read live, since nothing guards the write of the Lease against a stale image. Undefined if the
 * cache was behind: then all images are listed.
 */
export async function readFocus(
  kube: Reader['kube'],
  images: NamedImages,
  slots: HeldSlots,
  busy: ReadonlySet<string>,
  isAboutAll = false,
): Promise<Focus | undefined> {
  const { live, unfinished } = images;
  const named = new Set(live.keys());
  // A holder whose image seems to be elsewhere may have begun after the cache was written. Of a watch that is dead a sweep believes nothing.
  const isDoubtful = ({ holder, image }: HeldImage) =>
    image !== undefined && !live.has(keyOf(image.metadata)) && (isAboutAll || !isActiveAttempt(holder, image));
  const doubtful = withImages(slots.holders, unfinished.values()).filter(isDoubtful);
  await readLive(
    kube,
    images,
    doubtful.flatMap(({ image }) => (image ? [referenceOf(image)] : [])),
  );

  const { first, next, kept, awaited } = selectHead([...unfinished.values()], slots);
  // What is ahead of those, and waits for another to be downloaded, may wait no longer.
  const toRead = [...next, ...(next.length > 0 ? awaited : [])].filter(
    ({ metadata }) => !live.has(keyOf(metadata)) && !busy.has(metadata.uid),
  );
  await readLive(kube, images, toRead.map(referenceOf));
  if (toRead.some((image) => isChanged(image, live.get(keyOf(image.metadata))))) return undefined;

  const head = new Set(first.map(({ metadata }) => keyOf(metadata)));
  for (const { image } of kept) if (image) head.add(keyOf(image.metadata));
  const inFocus = [...unfinished].filter(
    ([key, image]) => named.has(key) || head.has(key) || !isWaiting(image, slots.nowMs),
  );
  return { images: inFocus.map(([, image]) => image), unfinished: [...unfinished.values()], live };
}

/**
 * The first of the queue, those of them that the free slots are for, the holders that keep theirs, and the images that others of the queue
 * wait for.
 */
export function selectHead(unfinished: readonly VMDiskImage[], slots: HeldSlots) {
  const { holders, policy, bytesLeft, ...downloads } = slots;
  const { concurrency, slotsPerNamespace } = policy.values;
  const kept = withImages(holders, unfinished).filter(
    ({ holder, image }) => keptBy(holder, image, downloads) !== undefined,
  );
  const held = kept.map(({ holder }) => holder);
  const uids = new Set(held.map(({ uid }) => uid));
  const underWay = contentsUnderWay(unfinished, held);
  const waiting = unfinished.filter((image) => !uids.has(image.metadata.uid) && waitsForContent(image, underWay));
  const awaitedContents = new Set(waiting.map(wantedContent));
  const awaited = unfinished.filter((image) => !isQueued(image) && awaitedContents.has(contentOf(image)));
  const queue = eligibleOf(unfinished, { holders: held, underWay, policy, bytesLeft, nowMs: downloads.nowMs });
  // Twice the number of slots: some images may not be allowed to sync.
  const open =
    slotsPerNamespace === undefined
      ? queue
      : [...Map.groupBy(queue, ({ metadata }) => metadata.namespace)].flatMap(([namespace, images]) =>
          firstOf(images, 2 * freeFor(namespace, held, slotsPerNamespace)),
        );
  const first = firstOf(open, 2 * concurrency);
  return { first, next: nextInQueue(first, held, { concurrency, slotsPerNamespace }), kept, awaited };
}

const isChanged = (before: VMDiskImage, now: VMDiskImage | undefined) =>
  now?.metadata.resourceVersion !== before.metadata.resourceVersion;

/** Waits for a slot, or for the end of its back-off; nothing but a turn, an event or a sweep changes that. */
function isWaiting(image: VMDiskImage, nowMs: number) {
  const { phase, nextAttemptAt, history = [] } = image.status ?? {};
  // An attempt that has just ended may still download, and keeps its slot even if a user edits the Lease.
  if (hasBegunBefore(image) && nowMs - Date.parse(history.at(-1)?.time ?? '') < stuckAfterMs) return false;
  return phase === 'Queued' || (phase === 'Retrying' && Date.parse(nextAttemptAt ?? '') > nowMs);
}

/** The first of the queue, in order, in one walk. */
function firstOf(queue: Iterable<VMDiskImage>, most: number): VMDiskImage[] {
  const first: VMDiskImage[] = [];
  for (const image of queue) {
    const last = first.length < most ? undefined : first.at(-1);
    if (last && byPlace(placeOf(last), placeOf(image)) <= 0) continue;
    const at = first.findIndex((one) => byPlace(placeOf(image), placeOf(one)) < 0);
    first.splice(at < 0 ? first.length : at, 0, image);
    if (first.length > most) first.pop();
  }
  return first;
}
