import { expect, test } from 'vitest';
import { at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { downloadShareOf, estimateOf, rateOf, shareBetween } from './download-share.ts';

test.each([
  ['Syncing', '42.50%', 0.425],
  ['Syncing', '101%', 1],
  ['Syncing', 'N/A', undefined],
  ['Snapshotting', '99.00%', 1],
  ['Retrying', '50.00%', undefined],
] as const)('an image that is %s at %s has done %s of its download', (phase, progress, share) => {
  expect(downloadShareOf(aVMDiskImage({ status: { phase, progress } }))).toBe(share);
});

test('a missing progress gives nothing', () => {
  expect(downloadShareOf(undefined)).toBeUndefined();
});

const source = (bytes: number) => ({ bytes, inspectedAt: at(0), queuedAt: at(0) });
const done = (bytes: number, seconds: number) =>
  aVMDiskImage({
    status: { phase: 'Succeeded', revision: 1, source: source(bytes), startedAt: at(0), snapshottingAt: at(seconds) },
  });

test('where CDI tells no share, size and rate of earlier downloads give one', () => {
  const rate = rateOf([done(1000, 1), done(4000, 1), done(2000, 1), aVMDiskImage()]);
  expect(rate).toBe(2);
  const syncing = (status: object) =>
    aVMDiskImage({
      status: { phase: 'Syncing', progress: 'N/A', startedAt: at(10), source: source(20_000), ...status },
    });
  const estimate = estimateOf(syncing({}), rate);
  expect(estimate).toEqual({ fromMs: start + 10_000, toMs: start + 20_000 });
  const shareAt = (seconds: number) => estimate && shareBetween(estimate, start + seconds * 1000);
  expect([shareAt(9), shareAt(14), shareAt(60)]).toEqual([0, 0.4, 0.99]);
  for (const status of [{ progress: '7.00%' }, { source: undefined }, { phase: 'Queued' }])
    expect(estimateOf(syncing(status), rate)).toBeUndefined();
  expect(estimateOf(syncing({}), rateOf([]))).toBeUndefined();
});
