import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../kinds/resource.ts';
import { downloadShareOf, type Estimate, estimateOf, rateOf, shareBetween, wasDownloaded } from './download-share.ts';
import { nextInQueue, queueIn, type SlotLimits } from './queue.ts';
import type { Holder } from './slots.ts';

/** What a forecast is computed from: how long the downloads took that are done. */
export interface Basis {
  count: number;
  medianMs: number;
  leastMs: number;
  mostMs: number;
}

/** The downloads of the existing images; undefined if none has finished. */
export const basisOf = (images: readonly VMDiskImage[]) =>
  basisFrom(images.flatMap((image) => durationOf(image) ?? []));

/** The same from how many milliseconds each of them took. */
export function basisFrom(durationsMs: readonly number[]): Basis | undefined {
  const tookMs = [...durationsMs].sort((a, b) => a - b);
  const [leastMs] = tookMs;
  const medianMs = tookMs[Math.floor(tookMs.length / 2)];
  const mostMs = tookMs.at(-1);
  if (leastMs === undefined || medianMs === undefined || mostMs === undefined) return undefined;
  return { count: tookMs.length, medianMs, leastMs, mostMs };
}

/** From the slot until the download was done, when the slot is free again: a snapshot needs none. */
export function durationOf(image: VMDiskImage): number | undefined {
  const { startedAt, snapshottingAt, completedAt } = image.status ?? {};
  if (!wasDownloaded(image)) return undefined;
  const ms = Date.parse(snapshottingAt ?? completedAt ?? '') - Date.parse(startedAt ?? '');
  return ms >= 0 ? ms : undefined;
}

/** From the end of its download until machines could be cloned from it. */
export function snapshotDurationOf(image: VMDiskImage): number | undefined {
  const { snapshottingAt, completedAt } = image.status ?? {};
  const ms = Date.parse(completedAt ?? '') - Date.parse(snapshottingAt ?? '');
  return durationOf(image) !== undefined && ms >= 0 ? ms : undefined;
}

/** A slot that is held, and how far its download is, from 0 to 1, where CDI reports it or it can be estimated. */
export interface Held {
  holder: Holder;
  share: number | undefined;
  estimate?: Estimate | undefined;
}

/** The slots with what is known of their downloads; the rate is that of the finished images, in bytes a millisecond. */
export function heldSlots(
  holders: readonly Holder[],
  images: readonly VMDiskImage[],
  nowMs: number,
  rate = rateOf(images),
): Held[] {
  const byUid = new Map(images.map((image) => [image.metadata.uid, image]));
  return holders.map((holder) => {
    const image = byUid.get(holder.uid);
    const estimate = estimateOf(image, rate);
    return { holder, share: downloadShareOf(image) ?? (estimate && shareBetween(estimate, nowMs)), estimate };
  });
}

/** The images for which a start is computed, the first of the queue: it takes longer the more wait, and hits those behind least. */
export const mostForecast = 1000;

/** What a forecast is made of. */
export interface ForecastFrom {
  images: readonly VMDiskImage[];
  holders: readonly Holder[];
  limits: SlotLimits;
  /** Nothing starts, whether slots are free or not. */
  isStopped: boolean;
  basis: Basis | undefined;
  /** Of finished downloads, in bytes a millisecond; computed from the images by default. */
  rate?: number | undefined;
  /** An image that is not there yet: its start follows those of the first images of the queue. */
  last?: VMDiskImage;
}

/**
 * The queue in its order, the slots, and when each of the first images of the queue may start; undefined if nothing can be computed: no
 * download to derive it from, nothing starts at all, or too many are before it.
 */
export function forecastOf({ images, holders, limits, isStopped, basis, rate, last }: ForecastFrom, nowMs: number) {
  const queue = queueIn(images, holders);
  const slots = heldSlots(holders, images, nowMs, rate);
  const first = queue.slice(0, mostForecast);
  const starts = isStopped ? [] : startsOf(last ? [...first, last] : first, slots, limits, basis, nowMs);
  return { queue, slots, starts };
}

/** When each image of the queue may start, in its order; undefined if nothing can be computed. */
export function startsOf(
  queue: readonly VMDiskImage[],
  held: readonly Held[],
  limits: SlotLimits,
  basis: Basis | undefined,
  nowMs: number,
): (number | undefined)[] {
  const starts = new Map<VMDiskImage, number>();
  const waiting = [...queue];
  const running = held.map((one) => ({ image: one.holder.image, endMs: basis ? endOf(one, basis, nowMs) : nowMs }));
  for (let atMs = nowMs; ; ) {
    for (const image of nextInQueue(waiting, running, limits)) {
      waiting.splice(waiting.indexOf(image), 1);
      starts.set(image, atMs);
      running.push({ image: keyOf(image.metadata), endMs: atMs + (basis?.medianMs ?? 0) });
    }
    const next = running.sort((a, b) => a.endMs - b.endMs).shift();
    if (!basis || !next || waiting.length === 0) break;
    atMs = next.endMs;
  }
  return queue.map((image) => starts.get(image));
}

/** When a slot may be free: by the estimate or the pace of its download, else the duration of the others. A late one may end at any moment. */
export function endOf(
  { holder, share, estimate }: Pick<Held, 'share' | 'estimate'> & { holder: Pick<Holder, 'since'> },
  { medianMs }: Pick<Basis, 'medianMs'>,
  nowMs: number,
): number {
  if (estimate) return Math.max(nowMs, estimate.toMs);
  const elapsedMs = Math.max(0, nowMs - Date.parse(holder.since)) || 0;
  const leftMs =
    share !== undefined && share >= 0.05 && elapsedMs > 0 ? (elapsedMs * (1 - share)) / share : medianMs - elapsedMs;
  return nowMs + Math.max(0, leftMs);
}
