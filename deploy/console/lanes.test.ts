import { describe, expect, test } from 'vitest';
import { lanesOf, throughputOf, ticksOf } from './lanes.ts';
import type { ClusterRow, ImageRow, PastSync, View } from './view.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const minute = 60_000;
const ago = (minutes: number) => now - minutes * minute;

const sync = (from: number, to: number, result: PastSync['result'] = 'Succeeded', bytes = 600): PastSync => ({
  ...{ fromMs: ago(from), toMs: ago(to), result, revision: 1, bytes, message: '' },
});
const imageWith = (more: Partial<ImageRow>) => ({ syncs: [], ...more }) as unknown as ImageRow;

const viewWith = (images: Record<string, Partial<ImageRow>>, cluster: Partial<ClusterRow> = {}) =>
  ({
    images: Object.fromEntries(Object.entries(images).map(([key, row]) => [key, imageWith(row)])),
    cluster: { cluster: { slots: { total: 2, held: [] }, queue: [], basis: undefined, ...cluster } },
  }) as unknown as Pick<View, 'cluster' | 'images'>;

const held = (image: string, since: number, endsAtMs?: number) => ({
  ...{ image, attempt: 1, since: new Date(ago(since)).toISOString(), endsAtMs },
});

describe('lanes', () => {
  test('are as many as there are slots; a download is in the first that is free when it begins', () => {
    const view = viewWith({
      'lab/a': { syncs: [sync(50, 40)] },
      'lab/b': { syncs: [sync(45, 20, 'Failed')] },
      'lab/c': { syncs: [sync(40, 30)] },
    });
    const { bars, count } = lanesOf(view, now);
    expect(count).toBe(2);
    expect(bars.map(({ image, lane, kind }) => [image, lane, kind])).toEqual([
      ['lab/a', 0, 'Succeeded'],
      ['lab/b', 1, 'Failed'],
      ['lab/c', 0, 'Succeeded'],
    ]);
  });

  test('have a download that runs until the forecast expects it to end, and a late one until now', () => {
    const slots = { total: 2, held: [held('lab/a', 5, now + 3 * minute), held('lab/b', 9, 0)] };
    const { bars } = lanesOf(viewWith({ 'lab/a': {}, 'lab/b': {} }, { slots }), now);
    expect(bars.map(({ image, kind, toMs }) => [image, kind, toMs - now])).toEqual([
      ['lab/b', 'running', 0],
      ['lab/a', 'running', 3 * minute],
    ]);
  });

  test('are 32 at most, and what is in others is counted', () => {
    const slots = { total: 40, held: Array.from({ length: 40 }, (_, index) => held(`lab/${index}`, 5)) };
    const { bars, count, omitted } = lanesOf(viewWith({}, { slots }), now);
    expect([bars.length, count, omitted]).toEqual([32, 32, 8]);
  });

  test('have the forecast of images that wait, each for the time that downloads take; without a forecast none', () => {
    const images = { 'lab/a': { startsAtMs: 0 }, 'lab/b': { startsAtMs: now + 4 * minute } };
    const queue = ['lab/a', 'lab/b'];
    const { bars } = lanesOf(viewWith(images, { queue, basis: { downloads: 1, medianMs: 10 * minute } }), now);
    expect(bars.map(({ image, lane, fromMs, toMs }) => [image, lane, fromMs - now, toMs - now])).toEqual([
      ['lab/a', 0, 0, 10 * minute],
      ['lab/b', 1, 4 * minute, 14 * minute],
    ]);
    expect(lanesOf(viewWith(images, { queue }), now).bars).toEqual([]);
  });

  test('a forecast that was made a moment ago makes no lane more: a bar begins when a lane is free', () => {
    const images = { 'lab/a': { startsAtMs: 0 }, 'lab/b': { startsAtMs: now + 9 * minute } };
    const view = viewWith(images, {
      slots: { total: 1, held: [] },
      queue: ['lab/a', 'lab/b'],
      basis: { downloads: 1, medianMs: 10 * minute },
    });
    const { bars, count } = lanesOf(view, now);
    expect(count).toBe(1);
    expect(bars.at(-1)?.fromMs).toBe(now + 10 * minute);
  });

  test('two downloads of one slot are in one lane, though the first is reported to end a second after the next began', () => {
    const view = viewWith({ 'lab/a': { syncs: [sync(50, 40 - 1 / 60)] }, 'lab/b': { syncs: [sync(40, 30)] } });
    expect(lanesOf(view, now).bars.map(({ lane }) => lane)).toEqual([0, 0]);
  });

  test('go back as far as most downloads of the last day, or as far as is asked', () => {
    const view = viewWith({ 'lab/a': { syncs: [sync(200, 190), sync(100, 90), sync(50, 45), sync(40, 30)] } });
    expect(now - lanesOf(view, now).fromMs).toBe(120 * minute);
    expect(lanesOf(view, now, 60 * minute).bars).toHaveLength(2);
  });

  test('of another user have no name, and the bar is there', () => {
    const slots = { total: 1, held: [held('(another namespace)', 5)] };
    expect(lanesOf(viewWith({}, { slots }), now).bars).toMatchObject([
      { image: '(another namespace)', kind: 'running' },
    ]);
  });
});

describe('throughput', () => {
  const rates = (view: Pick<View, 'cluster' | 'images'>) =>
    throughputOf(view, { fromMs: ago(10), nowMs: now, count: 10 });

  test('is what downloads that succeeded brought, each spread evenly over its time', () => {
    expect(rates(viewWith({ 'lab/a': { syncs: [sync(5, 3, 'Succeeded', 1200)] } }))).toEqual([
      0, 0, 0, 0, 0, 10, 10, 0, 0, 0,
    ]);
    expect(Math.max(...rates(viewWith({ 'lab/a': { syncs: [sync(5, 3, 'Failed', 1200)] } })))).toBe(0);
  });

  test('has those that run, as far as they are', () => {
    const slots = { total: 1, held: [held('lab/a', 2)] };
    expect(rates(viewWith({ 'lab/a': { bytes: 2400, share: 0.5 } }, { slots })).slice(-3)).toEqual([0, 10, 10]);
  });
});

test('ticks are round times, no more than there is room for', () => {
  expect(ticksOf(ago(60), now, 4).map((ms) => new Date(ms).toISOString().slice(11, 16))).toEqual([
    '11:00',
    '11:30',
    '12:00',
  ]);
});
