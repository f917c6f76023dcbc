import { distinct } from '../../../shared/distinct.ts';
import { type Batch, type Context, subjectsOf } from '../../../shared/function.ts';
import { isAdopting } from '../../../shared/images/adoption.ts';
import { eligibleOf } from '../../../shared/images/eligible.ts';
import { byPlace, isQueued, nextInQueue, placeOf } from '../../../shared/images/queue.ts';
import { contentOf, contentsUnderWay, waitsForContent, wantedContent } from '../../../shared/images/shared-content.ts';
import { freeFor, type Holder } from '../../../shared/images/slots.ts';
import { isFinished, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference, referenceOf } from '../../../shared/kinds/resource.ts';
import type { Policy } from '../../../shared/policy.ts';
import type { Gathered } from '../observed.ts';
import { isActiveAttempt, keptBy, stuckAfterMs } from '../slots/occupancy.ts';

/** The images that a reconcile of events decides about. */
export interface Focus {
  /** Those that events name, that have begun, that are due or new, and the first of the queue. */
  images: readonly VMDiskImage[];
  /** All unfinished ones. */
  unfinished: readonly VMDiskImage[];
  /** What was read live, by key: finished ones, too; undefined if it does not exist. */
  live: ReadonlyMap<string, VMDiskImage | undefined>;
}

/** What a reconcile of events sees of the images before it reads anything else. */
export interface Look {
  /** What was read live, by key; undefined if it does not exist. */
  live: Map<string, VMDiskImage | undefined>;
  /** The unfinished ones, by key: as the cache has them, if they were not read live. */
  unfinished: Map<string, VMDiskImage>;
}

/** With more names than this, a list costs less than a read for each. */
const mostNamed = 100;

interface Slots extends Pick<Gathered, 'nowMs' | 'dataVolumes' | 'claims' | 'pods' | 'unreadHolders'> {
  holders: readonly Holder[];
  policy: Policy;
  /** The bytes that the policy's egressBudget leaves; undefined without one. */
  bytesLeft: number | undefined;
}

/**
 * Looks the images up in the cache, so that an event costs the same however many wait. The cache may be behind. What events name is read
 * live and the cache waits for it, so no older image is missing. Undefined if that is not possible: then all are listed.
 */
export async function lookAt(
  { kube, cached }: Pick<Context, 'kube' | 'cached'>,
  batch: Batch,
): Promise<Look | undefined> {
  const subjects = distinct(subjectsOf(batch, VMDiskImage), keyOf);
  if (!cached || subjects.length > mostNamed) return undefined;
  const look: Look = { live: new Map(), unfinished: new Map() };
  await readLive(kube, look, subjects);
  const known = await cached(VMDiskImage);
  if (!known) return undefined;
  for (const image of known) {
    const key = keyOf(image.metadata);
    if (!look.live.has(key)) look.unfinished.set(key, image);
  }
  return look;
}

async function readLive(kube: Context['kube'], { live, unfinished }: Look, refs: readonly ObjectReference[]) {
  const found = await Promise.all(refs.map((ref) => kube.get(VMDiskImage, ref)));
  for (const [index, ref] of refs.entries()) {
    const [key, image] = [keyOf(ref), found[index]];
    live.set(key, image);
    if (image && !isFinished(image.status?.phase)) unfinished.set(key, image);
    else unfinished.delete(key);
  }
}

/**
 * Slots are given and freed by what is read live, since nothing guards the write of the Lease against a stale image. Undefined if the
 * cache was behind: then all images are listed.
 */
export async function focusOf(
  kube: Context['kube'],
  look: Look,
  { holders, policy, bytesLeft, ...downloads }: Slots,
): Promise<Focus | undefined> {
  const { live, unfinished } = look;
  const named = new Set(live.keys());
  // A holder whose image seems to be elsewhere may have begun after the cache was written.
  const isDoubtful = ({ holder, image }: HeldImage) =>
    image !== undefined && !live.has(keyOf(image.metadata)) && !isActiveAttempt(holder, image);
  const doubtful = withImages(holders, unfinished.values()).filter(isDoubtful);
  await readLive(
    kube,
    look,
    doubtful.flatMap(({ image }) => (image ? [referenceOf(image)] : [])),
  );

  const { first, next, kept, awaited } = inLine([...unfinished.values()], {
    holders,
    policy,
    bytesLeft,
    ...downloads,
  });
  // What is ahead of those, and waits for another to be downloaded, may wait no longer.
  const toRead = [...next, ...(next.length > 0 ? awaited : [])].filter(({ metadata }) => !live.has(keyOf(metadata)));
  await readLive(kube, look, toRead.map(referenceOf));
  if (toRead.some((image) => isChanged(image, live.get(keyOf(image.metadata))))) return undefined;

  const head = new Set(first.map(({ metadata }) => keyOf(metadata)));
  for (const { image } of kept) if (image) head.add(keyOf(image.metadata));
  const inFocus = [...unfinished].filter(
    ([key, image]) => named.has(key) || head.has(key) || !isWaiting(image, downloads.nowMs),
  );
  return { images: inFocus.map(([, image]) => image), unfinished: [...unfinished.values()], live };
}

/**
 * The first of the queue, those of them that the free slots are for, the holders that keep theirs, and the images that others of the queue
 * wait for.
 */
export function inLine(unfinished: readonly VMDiskImage[], slots: Slots) {
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

export interface HeldImage {
  holder: Holder;
  image: VMDiskImage | undefined;
}

export function withImages(holders: readonly Holder[], images: Iterable<VMDiskImage>): HeldImage[] {
  const uids = new Set(holders.map(({ uid }) => uid));
  const held = [...images].filter(({ metadata }) => uids.has(metadata.uid));
  const byUid = new Map(held.map((image) => [image.metadata.uid, image]));
  return holders.map((holder) => ({ holder, image: byUid.get(holder.uid) }));
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

/** A DataVolume of the image may be downloading: that of its attempt, or an earlier DataVolume that is not deleted yet. */
export const hasBegunBefore = (image: VMDiskImage) => {
  const { status } = image;
  if (status?.phase === 'Snapshotting' && !isAdopting(image)) return false;
  return (status?.attempt ?? 0) > 0 || (status?.revision ?? 1) > 1;
};

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
