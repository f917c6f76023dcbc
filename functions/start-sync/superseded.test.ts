import { expect, test } from 'vitest';
import { contentDigest } from '../../shared/images/content-digest.ts';
import type { VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { aDataVolume, aHolder, aLease, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { only, startSyncOf } from '../../test/support/harness/image-decisions.ts';

/** The attempts that a reconcile counts for one image with this status. */
function counted(status: VMDiskImageStatus) {
  const image = aVMDiskImage({ status: { revision: 1, attempt: 1, attempts: 1, startedAt: at(0), ...status } });
  const found = { nowMs: start + 60_000, lease: aLease([aHolder(image)]), dataVolumes: [aDataVolume(image)] };
  return only(startSyncOf([image], found), 'measure').map(({ metric, attributes }) => ({ metric, ...attributes }));
}

test('an attempt that a new revision ends is counted as superseded', () => {
  const downloading = { phase: 'Syncing', contentDigest: 'old', importer: { uid: 'pod-1', scratch: false } } as const;
  expect(counted(downloading)).toEqual([
    { metric: 'ot.image.sync.attempts', result: 'superseded', reason: 'NewRevision' },
    { metric: 'ot.image.sync.duration', result: 'superseded' },
    {
      metric: 'ot.image.download.estimated',
      result: 'superseded',
      image_namespace: 'vmdi-farm',
      requester: 'direct',
    },
  ]);
});

test('a new revision of an image that does not download ends no attempt', () => {
  expect(counted({ phase: 'Succeeded', contentDigest: 'old' })).toEqual([]);
  expect(counted({ phase: 'Syncing', contentDigest: contentDigest(aVMDiskImage()) })).toEqual([]);
});
