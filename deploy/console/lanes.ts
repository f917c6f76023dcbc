import type { PastSync, View } from './view.ts';

/** A download as a bar over time, in milliseconds since 1970. */
export interface Bar {
  /** From 0. */
  lane: number;
  /** Key of the image; of a slot of another user's image the words for that. */
  image: string;
  fromMs: number;
  toMs: number;
  kind: PastSync['result'] | 'running' | 'forecast';
  /** How it ended, in words; empty for others. */
  message: string;
}

export interface Lanes {
  count: number;
  bars: Bar[];
  fromMs: number;
  toMs: number;
  /** How many bars of that time are left out: the earliest, and those of lanes beyond the last. */
  omitted: number;
}

/** More of them could not be told apart. */
const mostLanes = 32;
const mostBars = 300;

/** A waiting image further down than this has no bar. */
const mostForecasts = 60;

const minute = 60_000;
const spans = [1, 2, 5, 15, 30, 60, 120, 180, 360, 720, 1440, 10_080].map((minutes) => minutes * minute);
/** How far back one can ask to look. */
export const pasts = spans.slice(2);

const dayMs = 1440 * minute;

/**
 * Slots as lanes: past downloads, those that run until the forecast expects them to end, and the forecast of those that wait. The Lease does not
 * number slots, so a bar is in the first lane that is free when it begins. Without `pastMs` the time is the shortest that has most of the
 * downloads of the last day.
 */
export function lanesOf({ cluster, images }: Pick<View, 'cluster' | 'images'>, nowMs: number, pastMs?: number): Lanes {
  const { slots, queue = [], basis } = cluster.cluster ?? {};
  const durationMs = basis?.medianMs ?? 0;
  const past = Object.entries(images).flatMap(([image, { syncs }]) =>
    syncs.map(({ fromMs, toMs, result, message }) => ({ image, fromMs, toMs, kind: result, message })),
  );
  const running = (slots?.held ?? []).map(({ image, since, endsAtMs }) => {
    const fromMs = Math.min(nowMs, Date.parse(since) || nowMs);
    return { image, fromMs, toMs: Math.max(nowMs, endsAtMs ?? nowMs), kind: 'running' as const, message: '' };
  });
  const forecast = queue.slice(0, mostForecasts).flatMap((image) => {
    const startsAtMs = images[image]?.startsAtMs;
    if (startsAtMs === undefined || durationMs === 0) return [];
    const fromMs = Math.max(nowMs, startsAtMs);
    return [{ image, fromMs, toMs: fromMs + durationMs, kind: 'forecast' as const, message: '' }];
  });
  const { bars, count } = inLanes([...past, ...running, ...forecast], slots?.total ?? 0);
  const beganMs = nowMs - (pastMs ?? shortestPast([...past, ...running], nowMs));
  const endsMs = Math.max(nowMs, ...[...running, ...forecast].map(({ toMs }) => toMs));
  const shownMs = nowMs - beganMs;
  const within = bars.filter(({ toMs }) => toMs >= beganMs);
  const drawn = within.filter(({ lane }) => lane < mostLanes).slice(-mostBars);
  return {
    count: Math.min(count, mostLanes),
    bars: drawn,
    omitted: within.length - drawn.length,
    fromMs: beganMs,
    // Some of the future, and never more of it than of the past.
    toMs: nowMs + Math.min(shownMs, Math.max(shownMs / 20, (endsMs - nowMs) * 1.1)),
  };
}

/** Facts have seconds, and a slot is free a moment before the fact that its download is done. */
const slackMs = 3000;

/** The forecast was made a moment ago: a bar of it that begins too early for the lanes that there are begins when one is free. */
function inLanes(bars: readonly Omit<Bar, 'lane'>[], total: number): { bars: Bar[]; count: number } {
  const endsMs = new Array<number>(total).fill(0);
  const placed = [...bars]
    .sort((a, b) => a.fromMs - b.fromMs || a.toMs - b.toMs)
    .map((bar) => {
      const free = endsMs.findIndex((endMs) => endMs <= bar.fromMs + slackMs);
      const next = bar.kind === 'forecast' && total > 0 ? endsMs.indexOf(Math.min(...endsMs)) : endsMs.length;
      const lane = free < 0 ? next : free;
      const fromMs = Math.max(bar.fromMs, endsMs[lane] ?? 0);
      const toMs = bar.kind === 'forecast' ? bar.toMs + fromMs - bar.fromMs : Math.max(fromMs, bar.toMs);
      endsMs[lane] = toMs;
      return { ...bar, fromMs, toMs, lane };
    });
  return { bars: placed, count: endsMs.length };
}

/** The shortest that has three of four downloads of the last day, or half of those that can be drawn. */
function shortestPast(bars: readonly { fromMs: number }[], nowMs: number): number {
  const ages = bars.map(({ fromMs }) => nowMs - fromMs).filter((ms) => ms <= dayMs);
  const enough = Math.min(mostBars / 2, ages.length * 0.75);
  return spans.find((ms) => ages.filter((age) => age <= ms).length >= enough) ?? dayMs;
}

/**
 * Bytes a second in `count` equal parts of the time until now: those of downloads that succeeded, each spread evenly over its time, and of those
 * that run, as far as they are.
 */
export function throughputOf(
  { cluster, images }: Pick<View, 'cluster' | 'images'>,
  { fromMs, nowMs, count }: { fromMs: number; nowMs: number; count: number },
): number[] {
  const stepMs = (nowMs - fromMs) / count;
  const sums = new Array<number>(count).fill(0);
  const spread = (bytes: number, beganMs: number, endedMs: number) => {
    const perMs = bytes / Math.max(1, endedMs - beganMs);
    const first = Math.max(0, Math.floor((beganMs - fromMs) / stepMs));
    const last = Math.min(count - 1, Math.floor((endedMs - fromMs) / stepMs));
    for (let index = first; index <= last; index++) {
      const [start, end] = [fromMs + index * stepMs, fromMs + (index + 1) * stepMs];
      const sharedMs = Math.min(endedMs, end) - Math.max(beganMs, start);
      sums[index] = (sums[index] ?? 0) + perMs * Math.max(0, sharedMs);
    }
  };
  for (const { syncs } of Object.values(images))
    for (const { result, bytes, ...sync } of syncs)
      if (result === 'Succeeded' && bytes) spread(bytes, sync.fromMs, Math.max(sync.toMs, sync.fromMs + 1));
  for (const { image, since } of cluster.cluster?.slots.held ?? []) {
    const row = images[image];
    const share = row && shareOf(row, nowMs);
    if (row?.bytes && share) spread(row.bytes * share, Date.parse(since), nowMs);
  }
  return sums.map((bytes) => (bytes / stepMs) * 1000);
}

/** CDI reports no progress of a qcow2 in S3 until the end; a late download never shows 100 %. */
export function shareOf(
  { share, estimate }: Pick<View['images'][string], 'share' | 'estimate'>,
  nowMs: number,
): number | undefined {
  if (share !== undefined || !estimate) return share;
  return Math.min(0.99, Math.max(0, (nowMs - estimate.fromMs) / (estimate.toMs - estimate.fromMs)));
}

const steps = [1, 2, 5, 10, 30, 60, 180, 360, 720, 1440].map((minutes) => minutes * minute);

/** Round times between these two, at most `most` of them. */
export function ticksOf(fromMs: number, toMs: number, most: number, offsetMs = 0): number[] {
  const stepMs = steps.find((step) => (toMs - fromMs) / step <= most) ?? (steps.at(-1) as number);
  const first = Math.ceil((fromMs - offsetMs) / stepMs) * stepMs + offsetMs;
  return Array.from(
    { length: Math.max(0, Math.floor((toMs - first) / stepMs) + 1) },
    (_, index) => first + index * stepMs,
  );
}
