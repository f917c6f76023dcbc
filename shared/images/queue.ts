import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import type { Policy, PolicyKey } from '../policy.ts';
import { freeFor, freeIn, type Holder } from './slots.ts';

/** The order of the queue: the longest wait first; of equal waits the smaller uid. */
export const byPlace = (a: { queuedAt: string; uid: string }, b: { queuedAt: string; uid: string }) =>
  a.queuedAt.localeCompare(b.queuedAt) || a.uid.localeCompare(b.uid);

/** The image waits for a slot, and is not being deleted. */
export const isQueued = ({ metadata, status }: VMDiskImage) =>
  status?.phase === 'Queued' && !metadata.deletionTimestamp;

export const placeOf = ({ metadata, status }: VMDiskImage) => ({ uid: metadata.uid, queuedAt: status?.queuedAt ?? '' });

/** The images that wait for a slot and hold none, in the order of the queue. */
export function queueIn(images: readonly VMDiskImage[], holders: readonly Pick<Holder, 'uid'>[]): VMDiskImage[] {
  const holding = new Set(holders.map(({ uid }) => uid));
  return images
    .filter((image) => isQueued(image) && !holding.has(image.metadata.uid))
    .sort((a, b) => byPlace(placeOf(a), placeOf(b)));
}

/** The keys of the policy that say how many slots there are. */
export type SlotLimits = Pick<Policy['values'], 'concurrency' | 'slotsPerNamespace'>;

/** The first of this ordered queue that may get the free slots; an image whose namespace has all of its slots lets the next go ahead. */
export function nextInQueue(
  queue: readonly VMDiskImage[],
  holders: readonly Pick<Holder, 'image'>[],
  { concurrency, slotsPerNamespace }: SlotLimits,
): VMDiskImage[] {
  const next: VMDiskImage[] = [];
  const free = freeIn(holders, concurrency);
  const left = new Map<string | undefined, number>();
  for (const image of queue) {
    if (next.length === free) break;
    const { namespace } = image.metadata;
    const own = left.get(namespace) ?? freeFor(namespace, holders, slotsPerNamespace);
    left.set(namespace, Math.max(0, own - 1));
    if (own > 0) next.push(image);
  }
  return next;
}

/** Keys of the policy without which no slot is granted. */
const grantKeys: readonly PolicyKey[] = [
  'concurrency',
  'slotsPerNamespace',
  'retryLimit',
  'retryBackoffDuration',
  'maxRetryBackoffDuration',
  'startTimeout',
  'syncTimeout',
  'inspectTimeout',
  'allowedSources',
  'egressBudget',
];

/** What is wrong with the first of them; no slot is granted meanwhile. */
export const grantFault = ({ faults }: Policy) => faults.find(({ key }) => grantKeys.includes(key));
