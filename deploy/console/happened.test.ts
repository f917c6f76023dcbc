import { expect, test } from 'vitest';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { happened } from './happened.ts';

const fact = (second: string, what: string) => ({
  time: `2026-01-01T00:00:${second}Z`,
  fact: what,
  message: `It is ${what}.`,
});
const image = {
  status: { history: [fact('01', 'Queued'), fact('01', 'Syncing'), fact('09', 'Failed')] },
} as unknown as VMDiskImage;

test('the newest is first, also where two happened in one second', () => {
  expect(happened(image, []).map(({ what }) => what)).toEqual(['Failed', 'Syncing', 'Queued']);
});

test('an Event that repeats a fact is left out, and others stand where they happened', () => {
  const event = { type: 'Warning', lastTimestamp: '2026-01-01T00:00:05Z' };
  const events = [
    { ...event, reason: 'NoSuchKey', message: 'It is Failed.' },
    { ...event, reason: 'Slow', message: 'The store is slow.' },
  ] as unknown as Parameters<typeof happened>[1];
  expect(happened(image, events).map(({ what, isWarning }) => [what, isWarning])).toEqual([
    ['Failed', true],
    ['Slow', true],
    ['Syncing', false],
    ['Queued', false],
  ]);
});
