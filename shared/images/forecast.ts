import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { freeIn, type Holder } from './slots.ts';

/** What a forecast is computed from: how long the downloads took that are done. */
export interface Basis {
  count: number;
  medianMs: number;
  leastMs: number;
  mostMs: number;
}

/** The downloads of the existing images; undefined if none has finished. An adopted disk was never downloaded. */
export function basisOf(images: readonly VMDiskImage[]): Basis | undefined {
  const tookMs = images
    .map(durationOf)
    .filter((ms) => ms !== undefined)
    .sort((a, b) => a - b);
  const [leastMs] = tookMs;
  const medianMs = tookMs[Math.floor(tookMs.length / 2)];
  const mostMs = tookMs.at(-1);
  if (leastMs === undefined || medianMs === undefined || mostMs === undefined) return undefined;
  return { count: tookMs.length, medianMs, leastMs, mostMs };
}

/** From the slot until the download was done, when the slot is free again: a snapshot needs none. */
function durationOf({ status }: VMDiskImage): number | undefined {
  const { phase, startedAt, snapshottingAt, completedAt, adoption, revision } = status ?? {};
  if (phase !== 'Succeeded' || (adoption && adoption.revision === revision)) return undefined;
  const ms = Date.parse(snapshottingAt ?? completedAt ?? '') - Date.parse(startedAt ?? '');
  return ms >= 0 ? ms : undefined;
}

/** A slot that is held, and how far its download is, from 0 to 1, where anybody knows. */
interface Held {
  holder: Holder;
  share: number | undefined;
}

/**
 * When each of the waiting images may start, in queue order; undefined if nothing can be computed: no download to derive it from, or
 * nothing starts at all.
 */
export function startsOf(
  waiting: number,
  held: readonly Held[],
  concurrency: number,
  basis: Basis | undefined,
  nowMs: number,
): (number | undefined)[] {
  const free = freeIn(
    held.map(({ holder }) => holder),
    concurrency,
  );
  const now = Array.from({ length: Math.min(waiting, free) }, () => nowMs as number | undefined);
  const later = waiting - now.length;
  if (concurrency === 0 || !basis) return [...now, ...Array.from({ length: later }, () => undefined)];
  // A lowered limit ends no download: this many more have to end before the next may start.
  const tooMany = Math.max(0, held.length - concurrency);
  const ends = [...held.map((one) => endOf(one, basis, nowMs)), ...now.map(() => nowMs + basis.medianMs)]
    .sort((a, b) => a - b)
    .slice(tooMany);
  for (let left = later; left > 0; left--) {
    const start = ends.shift() ?? nowMs;
    now.push(start);
    ends.push(start + basis.medianMs);
    ends.sort((a, b) => a - b);
  }
  return now;
}

/** By its own pace if known, else the duration of the others. A late download may end at any moment. */
function endOf({ holder, share }: Held, { medianMs }: Basis, nowMs: number): number {
  const elapsedMs = Math.max(0, nowMs - Date.parse(holder.since)) || 0;
  const leftMs =
    share !== undefined && share >= 0.05 && elapsedMs > 0 ? (elapsedMs * (1 - share)) / share : medianMs - elapsedMs;
  return nowMs + Math.max(0, leftMs);
}
