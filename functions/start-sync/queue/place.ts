import { egressIn } from '../../../shared/images/egress.ts';
import { forecastOf } from '../../../shared/images/forecast.ts';
import { isQueued } from '../../../shared/images/queue.ts';
import type { Holder } from '../../../shared/images/slots.ts';
import { stopOf } from '../../../shared/images/stopped.ts';
import type { VMDiskImage, VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import { basisIn, type Observed } from '../observed.ts';

/** The greatest place of each band: within one, the queue moves on without a write. */
const bands = [
  [1, '1'],
  [5, '2-5'],
  [20, '6-20'],
  [100, '21-100'],
] as const;

/** A place in the queue, counted from 1, in words that seldom change. */
const bandOf = (place: number) => bands.find(([greatest]) => place <= greatest)?.[1] ?? 'over 100';

/** About the place of an image that is queued now: behind those that wait, in the order of the new ones. */
export function placeOfNew(image: VMDiskImage, { waiting, places, ahead }: Observed): string {
  const others = waiting - (isQueued(image) ? 1 : 0);
  return bandOf(others + 1 + (ahead.get(image.metadata.uid) ?? places.size));
}

/**
 * How many of these images enter the queue before each of them, by uid. New images enter by their places; one that returns follows all
 * new ones and those of its phase before it. An audit corrects it.
 */
export function aheadOf(images: readonly VMDiskImage[], places: Observed['places']): Map<string, number> {
  const ahead = new Map([...places.keys()].map((uid, index) => [uid, index]));
  const returning = images.filter((image) => !places.has(image.metadata.uid) && !isQueued(image));
  for (const group of Map.groupBy(returning, ({ status }) => status?.phase).values())
    for (const [index, { metadata }] of group.entries()) ahead.set(metadata.uid, places.size + index);
  return ahead;
}

/** Of an image that is not in the queue. */
export const notQueued = { place: null, startsAbout: null };

/**
 * Returns the new place and forecast, by uid and in the order of the queue, of each image whose own are outdated; none but at the end of an audit.
 * Each image crosses at most four bands, so its writes are few however long the queue is, and none is made because another image started.
 */
export function correctPlaces(
  observed: Observed,
  images: readonly VMDiskImage[],
  holders: readonly Holder[],
): Map<string, Record<string, unknown>> {
  const { policy, lease, nowMs, downloads } = observed;
  if (!downloads) return new Map();
  const basis = basisIn(downloads);
  const isStopped = stopOf(policy, egressIn(lease), nowMs) !== undefined;
  const from = { images, holders, limits: policy.values, isStopped: isStopped || !basis, basis, rate: downloads.rate };
  const { queue, starts } = forecastOf(from, nowMs);
  // Deleted while it was queued, and kept by what uses it.
  const left = images.filter((image) => !isQueued(image) && (image.status?.place || image.status?.startsAbout));
  const outdated = queue.flatMap((image, index): [string, Record<string, unknown>][] => {
    const next = { place: bandOf(index + 1), ...roundedTime(starts[index]) };
    return isOutdated(image.status ?? {}, next, nowMs) ? [[image.metadata.uid, { startsAbout: null, ...next }]] : [];
  });
  return new Map([
    ...outdated,
    ...left.map(({ metadata }): [string, Record<string, unknown>] => [metadata.uid, notQueued]),
  ]);
}

const roundMs = 600_000;

const roundedTime = (ms: number | undefined) =>
  ms === undefined ? {} : { startsAbout: toTime(Math.ceil(ms / roundMs) * roundMs) };

type Forecast = Pick<VMDiskImageStatus, 'place' | 'startsAbout'>;

/** A forecast that is off by less than half of the time that is left is as good as the next one. */
function isOutdated(before: Forecast, next: Forecast, nowMs: number): boolean {
  if (before.place !== next.place) return true;
  if (before.startsAbout === undefined || next.startsAbout === undefined)
    return before.startsAbout !== next.startsAbout;
  const [said, found] = [Date.parse(before.startsAbout), Date.parse(next.startsAbout)];
  return Math.abs(said - found) > Math.max(2 * roundMs, (found - nowMs) / 2);
}
