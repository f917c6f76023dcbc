import { describe, expect, test } from 'vitest';
import type { VMDiskImage, VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { aHolder, aLease, at, aVMDiskImage, start } from '../../../test/support/builders/images.ts';
import { known, only, startSyncOf } from '../../../test/support/harness/image-decisions.ts';

const audit = { downloads: {}, isTimed: true, isAboutAll: true };
const nowMs = start + 100_000;

/** One that waits, the longer the smaller its number. */
const waiting = (number: number, status: VMDiskImageStatus = {}) =>
  known({
    name: `image-${number}`,
    status: { phase: 'Queued', queuedAt: at(number / 1000), message: 'Waiting.', ...status },
  });
const line = (length: number, statusOf: (place: number) => VMDiskImageStatus = () => ({})) =>
  Array.from({ length }, (_, index) => waiting(index + 1, statusOf(index + 1)));

const syncing = known({
  name: 'first',
  status: { phase: 'Syncing', attempt: 1, attempts: 1, startedAt: at(0), revision: 1, message: 'Downloading.' },
});
const lease = aLease([aHolder(syncing)]);
const basis = { count: 3, medianMs: 600_000, leastMs: 600_000, mostMs: 600_000 };

/** Place and forecast as they are written, by name. */
const told = (images: readonly VMDiskImage[], more: Parameters<typeof startSyncOf>[1] = audit) =>
  only(startSyncOf([syncing, ...images], { lease, nowMs, data: { concurrency: '1' }, ...more }), 'patchStatus')
    .filter(({ status }) => 'place' in status)
    .map(({ of, status }) => [of.metadata.name, status.place, status.startsAbout]);

describe('the place in the queue', () => {
  test('is written into the queue and out of it, with the transitions', () => {
    const [queued, begun] = only(startSyncOf([aVMDiskImage()]), 'patchStatus');
    expect(queued?.status).toMatchObject({ phase: 'Queued', place: '1' });
    expect(begun?.status).toMatchObject({ phase: 'Syncing', place: null, startsAbout: null });
    const last = aVMDiskImage({ name: 'last' });
    expect(told([...line(5), last], {})).toEqual([['last', '6-20', null]]);
  });
  test('is corrected by an audit, where its band is another one', () => {
    const before: Record<number, string> = { 1: '2-5', 5: '6-20', 6: '6-20', 100: 'over 100', 101: 'over 100' };
    const images = line(101, (place) => ({
      place: before[place] ?? (place < 6 ? '2-5' : place < 21 ? '6-20' : '21-100'),
    }));
    expect(told(images)).toEqual([
      ['image-1', '1', null],
      ['image-5', '2-5', null],
      ['image-100', '21-100', null],
    ]);
  });
  test('is taken back by an audit where a deleted image keeps it', () => {
    const deleted = waiting(1, { place: '1', startsAbout: at(9) });
    deleted.metadata.deletionTimestamp = at(50);
    expect(told([deleted])).toEqual([['image-1', null, null]]);
  });
  test('of many that return to the queue at once are different ones', () => {
    const reason = 'StorageClassMissing';
    const refused = { type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: at(0) } as const;
    const back = Array.from({ length: 7 }, (_, index) =>
      known({ name: `image-${index}`, status: { phase: 'Failed', message: 'Not allowed.', conditions: [refused] } }),
    );
    expect(told(back, {}).map(([, place]) => place)).toEqual(['1', '2-5', '2-5', '2-5', '2-5', '6-20', '6-20']);
  });
  test('of the first are corrected first', () => {
    const places = told(line(300).reverse()).map(([name]) => name);
    expect(places).toEqual(Array.from({ length: 200 }, (_, index) => `image-${index + 1}`));
  });
  test('costs no write at an event or a sweep, and at most 200 at an audit', () => {
    expect(told(line(30), {})).toEqual([]);
    expect(told(line(30), { isTimed: true, isAboutAll: true })).toEqual([]);
    expect(told(line(300))).toHaveLength(200);
  });
});

describe('the forecast', () => {
  const places = (place: number) => (place === 1 ? '1' : '2-5');
  test('is a time of day, rounded up to ten minutes', () => {
    expect(told(line(2), { ...audit, downloads: basis })).toEqual([
      ['image-1', '1', '2026-01-01T00:10:00Z'],
      ['image-2', '2-5', '2026-01-01T00:20:00Z'],
    ]);
  });
  test.each([
    ['as good as the next one', '2026-01-01T00:30:00Z', []],
    ['far from the next one', '2026-01-01T01:30:00Z', [['image-2', '2-5', '2026-01-01T00:20:00Z']]],
  ])('that is %s', (_, startsAbout, written) => {
    const images = line(2, (place) => ({
      place: places(place),
      startsAbout: place === 1 ? '2026-01-01T00:10:00Z' : startsAbout,
    }));
    expect(told(images, { ...audit, downloads: basis })).toEqual(written);
  });
  test('is taken back while nothing starts', () => {
    const images = line(1, () => ({ place: '1', startsAbout: '2026-01-01T00:10:00Z' }));
    const paused = { ...audit, downloads: basis, data: { concurrency: '0' } };
    // With the reason, in one write.
    expect(only(startSyncOf(images, { lease, nowMs, ...paused }), 'patchStatus')).toMatchObject([
      { status: { message: 'Waiting: the queue is paused (concurrency 0).', place: '1', startsAbout: null } },
    ]);
  });
});
