import { describe, expect, test } from 'vitest';
import { aVMDiskImage } from '../../../test/support/builders/images.ts';
import { isAtRest, overtakenBy, queueOf, waitedMs } from './images-act.ts';

const image = (name: string, queuedAt: string, uid = `uid-${name}`) =>
  aVMDiskImage({ name, uid, status: { phase: 'Queued', queuedAt } });

test('an image waits while it is new or Queued, in all attempts, and not while it is Retrying', () => {
  const steps = [
    { phase: '', atMs: 0 },
    { phase: 'Queued', atMs: 100 },
    { phase: 'Syncing', atMs: 400 },
    { phase: 'Retrying', atMs: 1000 },
    { phase: 'Queued', atMs: 2000 },
    { phase: 'Syncing', atMs: 2500 },
  ];
  expect(waitedMs(steps, 9999)).toBe(900);
});

test('an image that still waits has waited until now', () => {
  expect(waitedMs([{ phase: 'Queued', atMs: 100 }], 350)).toBe(250);
});

describe('the queue', () => {
  const a = image('a', '2026-01-01T00:00:01.000001Z');
  const b = image('b', '2026-01-01T00:00:01.000002Z');
  const c = image('c', '2026-01-01T00:00:02.000000Z');
  test('has the one that waited longest in front, and only those that wait', () => {
    const syncing = aVMDiskImage({ status: { phase: 'Syncing' } });
    expect(queueOf([c, syncing, b, a])).toEqual([a, b, c]);
  });
  test('no image is overtaken by its first', () => {
    expect(overtakenBy(a, [c, b, a])).toEqual([]);
  });
  test('those in front are overtaken by one from behind, which has left it by now', () => {
    expect(overtakenBy(c, [{ ...c, status: { phase: 'Syncing' } }, b, a])).toEqual([a, b]);
  });
  test('in one place the uid decides', () => {
    const twin = image('z', '2026-01-01T00:00:01.000001Z', 'uid-z');
    expect(overtakenBy(a, [a, twin])).toEqual([]);
    expect(overtakenBy(twin, [a, twin])).toEqual([a]);
  });
});

test.each([
  ['Succeeded', true],
  ['Failed', true],
  ['Retrying', false],
  ['Queued', false],
] as const)('an image that is %s is at rest: %s', (phase, expected) => {
  expect(isAtRest(aVMDiskImage({ status: { phase } }))).toBe(expected);
});
