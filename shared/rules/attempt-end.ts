import type { VMDiskImage } from '../resources/pelotech/vm-disk-image.ts';
import type { Action } from './actions.ts';
import { bytesOf } from './quantity.ts';

/** How an attempt ended: `reason` is the word that condition and Event carry, too. */
export interface AttemptEnd {
  result: 'success' | 'failure' | 'superseded';
  reason: string;
  nowMs: number;
  /** Nothing was downloaded at all. */
  isUnstarted?: boolean;
}

/**
 * Counts an attempt that ends, how long it took, and what it downloaded at most: CDI tells nobody the bytes, so the disk
 * size stands for them. Goes behind the status write that ends the attempt, so that it is counted once.
 */
export function attemptEnd(image: VMDiskImage, { result, reason, nowMs, isUnstarted }: AttemptEnd): Action[] {
  const seconds = (nowMs - Date.parse(image.status?.startedAt ?? '')) / 1000;
  const bytes = bytesOf(image.spec.diskSize);
  return [
    { do: 'measure', metric: 'ot.image.sync.attempts', value: 1, attributes: { result, reason } },
    ...(Number.isFinite(seconds) ? [measure('ot.image.sync.duration', Math.max(0, seconds), result)] : []),
    ...(isUnstarted || bytes === undefined ? [] : [measure('ot.image.download.estimated', bytes, result)]),
  ];
}

const measure = (metric: string, value: number, result: string): Action => ({
  do: 'measure',
  metric,
  value,
  attributes: { result },
});
