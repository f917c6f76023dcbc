import { egressIn } from '../../shared/images/egress.ts';
import { heldSlots, mostForecast, startsOf } from '../../shared/images/forecast.ts';
import { queueIn } from '../../shared/images/queue.ts';
import { enough, forecastIn, type QueueForecast } from '../../shared/images/queue-forecast.ts';
import type { Holder } from '../../shared/images/slots.ts';
import { stopOf } from '../../shared/images/stopped.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import type { Observed } from './observed.ts';

const roundMs = 60_000;

/**
 * What is to be expected of an image that is requested now, for those who have to request one in time. Only an audit knows it; how long
 * downloads take is remembered when the last image that tells is gone.
 */
export function queueForecast(
  { isAudit, policy, lease, nowMs, basis, rate, longMs, snapshotMs }: Observed,
  images: readonly VMDiskImage[],
  holders: readonly Holder[],
): QueueForecast | undefined {
  const before = forecastIn(lease);
  const downloadMs = basis?.medianMs ?? before?.downloadMs;
  if (!isAudit || !downloadMs) return undefined;
  const known = basis ?? { count: 0, medianMs: downloadMs, leastMs: downloadMs, mostMs: downloadMs };
  const bytesPerMs = rate ?? before?.bytesPerMs;
  const line = queueIn(images, holders);
  const first = line.slice(0, mostForecast);
  const held = heldSlots(holders, images, nowMs, bytesPerMs);
  const isStopped = stopOf(policy, egressIn(lease), nowMs) !== undefined;
  const startMs = isStopped ? undefined : startsOf([...first, next(policy)], held, policy.values, known, nowMs).at(-1);
  const waitMs = startMs === undefined ? 0 : (startMs - nowMs) * Math.max(1, line.length / mostForecast);
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

/** It stands for an image that is not there yet. */
const next = ({ values }: Observed['policy']) =>
  ({ metadata: { namespace: values.imageNamespaces[0] ?? '', name: '', uid: '' } }) as VMDiskImage;
