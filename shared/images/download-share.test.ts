import { expect, test } from 'vitest';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { downloadShareOf } from './download-share.ts';

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
