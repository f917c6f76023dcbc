import { expect, test } from 'vitest';
import type { VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import { ProgressWrites } from './progress-writes.ts';

const countOf = (...statuses: VMDiskImageStatus[]) => {
  const writes = new ProgressWrites();
  for (const [index, status] of statuses.entries()) {
    const object = aVMDiskImage({ status, resourceVersion: String(index) });
    writes.heardOfImage({ type: index === 0 ? 'ADDED' : 'MODIFIED', object });
  }
  return writes.count;
};

test('a write that tells only how far a download is, or who does it, is progress', () => {
  const importer = { uid: 'pod-1', scratch: false };
  expect(
    countOf(
      { phase: 'Syncing' },
      { phase: 'Syncing', dataVolume: 'a-r1-a1', importer },
      { phase: 'Syncing', dataVolume: 'a-r1-a1', importer, progress: '5%' },
    ),
  ).toBe(2);
});

test('a write of another phase does not count, even if it has progress too', () => {
  expect(countOf({ phase: 'Syncing' }, { phase: 'Snapshotting', progress: '100%' })).toBe(0);
});
