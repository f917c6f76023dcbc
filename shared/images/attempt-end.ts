import type { Action } from '../actions.ts';
import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { bytesOf } from '../kubernetes/quantity.ts';
import { lasted } from '../lasted.ts';
import { traceOfImage } from '../traces.ts';

/** How an attempt ended: `reason` is the word that condition and Event carry, too. */
interface AttemptEnd {
  result: 'success' | 'failure' | 'superseded';
  reason: string;
  nowMs: number;
  /** Nothing was downloaded at all. */
  isUnstarted?: boolean;
}

/**
 * Counts an attempt that ends, how long it took, and what it downloaded at most: CDI does not report the bytes, so the disk
 * size stands for them. Goes behind the status write that ends the attempt, so that it is counted once.
 */
export function attemptEnd(image: VMDiskImage, { result, reason, nowMs, isUnstarted }: AttemptEnd): Action[] {
  const { startedAt: since } = image.status ?? {};
  const bytes = bytesOf(image.spec.diskSize);
  const trace = traceOfImage(image);
  return [
    { do: 'measure', metric: 'ot.image.sync.attempts', value: 1, attributes: { result, reason } },
    ...(since ? [lasted({ metric: 'ot.image.sync.duration', since, nowMs, trace, attributes: { result } })] : []),
    ...(isUnstarted || bytes === undefined ? [] : [downloaded(bytes, result)]),
  ];
}

const downloaded = (bytes: number, result: string): Action => ({
  do: 'measure',
  metric: 'ot.image.download.estimated',
  value: bytes,
  attributes: { result },
});
