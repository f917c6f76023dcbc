import { expect, test } from 'vitest';
import { at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { pastSyncsOf } from './past-syncs.ts';

const fact = (seconds: number, what: string, more: object = {}) => ({
  time: at(seconds),
  fact: what,
  revision: 1,
  message: `It is ${what}.`,
  ...more,
});
const syncsOf = (...history: ReturnType<typeof fact>[]) => pastSyncsOf(aVMDiskImage({ status: { history } }));

test('a download lasts from the fact that it began to the next, which says how it ended', () => {
  const history = [
    fact(0, 'Queued'),
    fact(10, 'Syncing', { bytes: 500 }),
    fact(40, 'Retrying'),
    fact(50, 'Queued'),
    fact(60, 'Syncing', { bytes: 500 }),
    fact(90, 'Snapshotting'),
    fact(95, 'Failed'),
  ];
  const sync = { revision: 1, bytes: 500 };
  expect(syncsOf(...history)).toEqual([
    { ...sync, fromMs: start + 10_000, toMs: start + 40_000, result: 'Retrying', message: 'It is Retrying.' },
    { ...sync, fromMs: start + 60_000, toMs: start + 90_000, result: 'Succeeded', message: 'It is Snapshotting.' },
  ]);
});

test('a download that goes on is none of the past, nor is one whose beginning is forgotten', () => {
  expect(syncsOf(fact(0, 'Snapshotting'), fact(1, 'Succeeded'), fact(9, 'Queued'), fact(10, 'Syncing'))).toEqual([]);
});

test('what another version wrote is left out', () => {
  expect(syncsOf(fact(0, 'Syncing'), fact(5, 'Unpacking'))).toEqual([]);
  expect(syncsOf(fact(9, 'Syncing'), fact(5, 'Failed'))).toEqual([]);
});
