import { downloadShareOf, estimateOf } from '../../../shared/images/download-share.ts';
import { endOf } from '../../../shared/images/forecast.ts';
import { enough, type QueueForecast } from '../../../shared/images/queue-forecast.ts';
import { isFinished, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Policy } from '../../../shared/policy.ts';
import { isUsable } from '../images/status.ts';
import type { Booking } from './queue.ts';

/** Images are requested as long before the start as they are forecast to take, and half of that again. */
const margin = 1.5;

/** How long before the start they are requested at least while too few downloads tell how long they take. */
export const leadWithoutForecastMs = 3_600_000;

/** A download that has taken longer than the others takes at least this share of its time more. */
const lateShare = 0.25;

/** When this image may be usable, in milliseconds since 1970: infinite if it has failed or is being deleted, undefined if nothing tells. */
export function usableAtMs(image: VMDiskImage, forecast: QueueForecast | undefined, nowMs: number): number | undefined {
  const { metadata, status } = image;
  const { phase, startedAt, snapshottingAt, startsAbout, nextAttemptAt } = status ?? {};
  if (isUsable(image)) return nowMs;
  if (metadata.deletionTimestamp || isFinished(phase)) return Number.POSITIVE_INFINITY;
  if (!forecast) return undefined;
  const { longMs, snapshotMs, bytesPerMs } = forecast;
  const fromQueueMs = longMs + snapshotMs;
  switch (phase) {
    case 'Snapshotting':
      return latest(nowMs, msOf(snapshottingAt) + snapshotMs);
    case 'Syncing':
      return downloadedAtMs(image, startedAt ?? '', { longMs, bytesPerMs, nowMs }) + snapshotMs;
    case 'Retrying':
      return latest(nowMs, msOf(nextAttemptAt), msOf(forecast.startsAt)) + fromQueueMs;
    default:
      return latest(nowMs, msOf(startsAbout ?? forecast.startsAt)) + fromQueueMs;
  }
}

function downloadedAtMs(
  image: VMDiskImage,
  since: string,
  { longMs: medianMs, bytesPerMs, nowMs }: { longMs: number; bytesPerMs: number | undefined; nowMs: number },
): number {
  const share = downloadShareOf(image);
  const endMs = endOf({ holder: { since }, share, estimate: estimateOf(image, bytesPerMs) }, { medianMs }, nowMs);
  return endMs > nowMs || share === 1 ? endMs : nowMs + lateShare * (nowMs - (msOf(since) || nowMs));
}

const msOf = (text: string | undefined) => Date.parse(text ?? '') || 0;
const latest = (...times: number[]) => Math.max(...times);

/** Those who request images at the same time as one who starts then, so that some of its images wait for theirs. */
interface Request {
  startsAtMs: number;
  name: string;
  /** The images that do not exist yet, by name. */
  missing: readonly string[];
}

/** From the request of its missing images until all of them are usable, if this many others are requested before. The last may be a long one. */
function takesMs(missing: number, ahead: number, forecast: QueueForecast, policy: Policy, nowMs: number): number {
  const { downloadMs, longMs, snapshotMs, startsAt } = forecast;
  const { concurrency, slotsPerNamespace = Number.POSITIVE_INFINITY } = policy.values;
  const slots = Math.max(1, Math.min(concurrency, slotsPerNamespace));
  const turns = Math.floor((ahead + missing - 1) / slots);
  return Math.max(0, msOf(startsAt) - nowMs) + turns * downloadMs + longMs + snapshotMs;
}

/**
 * How long before the start the missing images are requested, and how long they take. Images of workspaces that start before are downloaded
 * first; those whose workspace starts even before the request are done by then.
 */
export function leadOf(
  { startsAtMs, name, missing }: Request,
  booked: readonly Booking[],
  { forecast, policy, nowMs }: { forecast: QueueForecast; policy: Policy; nowMs: number },
): { leadMs: number; takesMs: number } {
  const own = new Set(missing);
  const before = booked
    .filter((one) => one.startsAtMs < startsAtMs || (one.startsAtMs === startsAtMs && one.name < name))
    .sort((a, b) => b.startsAtMs - a.startsAtMs);
  const ahead = new Set<string>();
  let tookMs = takesMs(missing.length, 0, forecast, policy, nowMs);
  for (const one of before) {
    if (one.startsAtMs < startsAtMs - margin * tookMs) break;
    for (const image of one.images) if (!own.has(image)) ahead.add(image);
    tookMs = takesMs(missing.length, ahead.size, forecast, policy, nowMs);
  }
  const leastMs = forecast.count < enough ? leadWithoutForecastMs : 0;
  return { leadMs: Math.max(leastMs, margin * tookMs), takesMs: tookMs };
}
