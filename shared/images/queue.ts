import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import type { PolicyKey } from '../policy.ts';

/** The order of the queue: the longest wait first; of equal waits the smaller uid. */
export const byPlace = (a: { queuedAt: string; uid: string }, b: { queuedAt: string; uid: string }) =>
  a.queuedAt.localeCompare(b.queuedAt) || a.uid.localeCompare(b.uid);

/** The image waits for a slot, and is not being deleted. */
export const isQueued = ({ metadata, status }: VMDiskImage) =>
  status?.phase === 'Queued' && !metadata.deletionTimestamp;

/** The place of a queued image in the queue. */
export const placeOf = ({ metadata, status }: VMDiskImage) => ({ uid: metadata.uid, queuedAt: status?.queuedAt ?? '' });

/** Keys of the policy without which no slot is granted. */
export const grantKeys = [
  'concurrency',
  'retryLimit',
  'retryBackoffDuration',
  'maxRetryBackoffDuration',
  'startTimeout',
  'syncTimeout',
  'allowedSources',
] as const satisfies readonly PolicyKey[];
