import { describe, expect, test } from 'vitest';
import type { VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { aVMDiskImage } from '../../../test/support/builders/images.ts';
import { isAtRest, lineOfQueued, overtakenBy, type WatchedImage, waitedMs, watchImage } from './watched-image.ts';

/** What was seen of an image that went through these states, each so many milliseconds after the first sight. */
function watched(...states: [atMs: number, status: VMDiskImageStatus | undefined, bytes?: number][]): WatchedImage {
  let image: WatchedImage | undefined;
  for (const [atMs, status, bytes = 0] of states)
    image = watchImage(image, aVMDiskImage(status ? { status } : {}), atMs, bytes);
  return image as WatchedImage;
}

const queued = (name: string, queuedAt: string) => ({
  ...watched([0, { phase: 'Queued', queuedAt }]),
  name,
  uid: `uid-${name}`,
});

describe('an image that is watched', () => {
  test('takes a step with each phase, none with other changes', () => {
    const { steps } = watched(
      [0, undefined],
      [100, { phase: 'Queued' }],
      [200, { phase: 'Syncing', attempts: 1 }, 10],
      [300, { phase: 'Syncing', attempts: 1, progress: '50%' }, 20],
    );
    expect(steps).toEqual([
      { phase: '', atMs: 0, downloadedBytes: 0 },
      { phase: 'Queued', atMs: 100, downloadedBytes: 0 },
      { phase: 'Syncing', atMs: 200, downloadedBytes: 10 },
    ]);
  });
  test('waits while it is new or Queued, in all attempts, and not while it is Retrying', () => {
    const image = watched(
      [0, undefined],
      [100, { phase: 'Queued' }],
      [400, { phase: 'Syncing', attempts: 1 }],
      [1000, { phase: 'Retrying', attempts: 1 }],
      [2000, { phase: 'Queued', attempts: 1 }],
      [2500, { phase: 'Syncing', attempts: 2 }],
    );
    expect(waitedMs(image, 9999)).toBe(900);
  });
  test('that still waits has waited until now', () => {
    expect(waitedMs(watched([100, { phase: 'Queued' }]), 350)).toBe(250);
  });
  test('that was deleted and made again is another one', () => {
    const before = watched([0, { phase: 'Succeeded' }]);
    const again = watchImage(before, aVMDiskImage({ uid: 'another' }), 50, 0);
    expect(again.steps).toEqual([{ phase: '', atMs: 50, downloadedBytes: 0 }]);
  });
  test.each([
    ['Succeeded', true],
    ['Failed', true],
    ['Retrying', false],
    ['Queued', false],
  ] as const)('that is %s is at rest: %s', (phase, expected) => {
    expect(isAtRest(watched([0, { phase }]))).toBe(expected);
  });
});

describe('the line', () => {
  const a = queued('a', '2026-01-01T00:00:01.000001Z');
  const b = queued('b', '2026-01-01T00:00:01.000002Z');
  const c = queued('c', '2026-01-01T00:00:02.000000Z');
  test('has the one that waited longest in front, and only those that wait', () => {
    const syncing = watched([0, { phase: 'Syncing' }]);
    expect(lineOfQueued([c, syncing, b, a]).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });
  test('nobody is overtaken by its first', () => {
    expect(overtakenBy(a, [c, b, a])).toEqual([]);
  });
  test('those in front are overtaken by one from behind', () => {
    expect(overtakenBy(c, [c, b, a]).map(({ name }) => name)).toEqual(['a', 'b']);
  });
  test('in one place the uid decides', () => {
    const twin = { ...a, name: 'z', uid: 'uid-z' };
    expect(overtakenBy(a, [a, twin])).toEqual([]);
    expect(overtakenBy(twin, [a, twin])).toEqual([a]);
  });
});
