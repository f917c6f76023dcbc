import { egressIn } from '../../../shared/images/egress.ts';
import { forecastOf, mostForecast } from '../../../shared/images/forecast.ts';
import { enough, forecastIn, type QueueForecast } from '../../../shared/images/queue-forecast.ts';
import type { Holder } from '../../../shared/images/slots.ts';
import { stopOf } from '../../../shared/images/stopped.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import { basisIn, type Observed } from '../observed.ts';

const roundMs = 60_000;

/**
 * When an image that is requested now would start and finish, for those who have to request one in time. Only an audit computes it; how
 * long downloads take is kept after the last finished image is deleted.
 */
export function queueForecast(
  { policy, lease, nowMs, downloads }: Observed,
  images: readonly VMDiskImage[],
  holders: readonly Holder[],
): QueueForecast | undefined {
  if (!downloads) return undefined;
  const { rate, longMs, snapshotMs } = downloads;
  const basis = basisIn(downloads);
  const before = forecastIn(lease);
  const downloadMs = basis?.medianMs ?? before?.downloadMs;
  if (!downloadMs) return undefined;
  const known = basis ?? { count: 0, medianMs: downloadMs, leastMs: downloadMs, mostMs: downloadMs };
  const bytesPerMs = rate ?? before?.bytesPerMs;
  const isStopped = stopOf(policy, egressIn(lease), nowMs) !== undefined;
  const from = {
    images,
    holders,
    limits: policy.values,
    isStopped,
    basis: known,
    rate: bytesPerMs,
    last: next(policy),
  };
  const { queue, starts } = forecastOf(from, nowMs);
  const startMs = starts.at(-1);
  const waitMs = startMs === undefined ? 0 : (startMs - nowMs) * Math.max(1, queue.length / mostForecast);
  return {
    ...(waitMs > 0 ? { startsAt: toTime(Math.ceil((nowMs + waitMs) / roundMs) * roundMs) } : {}),
    count: Math.min(enough, basis?.count ?? before?.count ?? 1),
    downloadMs: inSeconds(downloadMs),
    longMs: inSeconds(longMs ?? before?.longMs ?? downloadMs),
    snapshotMs: inSeconds(snapshotMs ?? before?.snapshotMs ?? 0),
    ...(bytesPerMs ? { bytesPerMs: Number(bytesPerMs.toPrecision(3)) } : {}),
  };
}

const inSeconds = (ms: number) => Math.ceil(ms / 1000) * 1000;

/** A placeholder for an image that does not exist yet. */
const next = ({ values }: Observed['policy']) =>
  ({ metadata: { namespace: values.imageNamespaces[0] ?? '', name: '', uid: '' } }) as VMDiskImage;
