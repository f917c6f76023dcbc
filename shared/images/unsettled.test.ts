import { expect, test } from 'vitest';
import { done, queued, ready, snapshot, snapshotting, syncing } from '../../test/support/builders/image-stages.ts';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { useRevision, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { isUnsettled } from './unsettled.ts';

const pinned = [...ready('True', 'SnapshotReady'), { ...ready('True', 'Used')[0], type: 'RevisionPinned' }];

test.each<[string, VMDiskImage, boolean]>([
  ['is new', aVMDiskImage(), false],
  ['is new, and is asked for a revision', aVMDiskImage({ annotations: { [useRevision]: '1' } }), true],
  ['waits for its first download', queued(), false],
  ['waits, and is deleted', queued({ deleted: true }), true],
  ['waits, and is asked for a revision', queued({ annotations: { [useRevision]: '1' } }), true],
  ['waits again', aVMDiskImage({ status: { phase: 'Queued', attempt: 1 } }), true],
  ['begins its first download', syncing, false],
  ['begins another attempt', aVMDiskImage({ status: { phase: 'Syncing', attempt: 2 } }), true],
  ['is downloaded again', aVMDiskImage({ status: { phase: 'Syncing', revision: 2 } }), true],
  ['waits for its snapshot', snapshotting('Downloaded'), false],
  ['waits for its snapshot again', snapshotting('SnapshotRequested'), true],
  ['adopts a snapshot', snapshotting('Downloaded', { adoption: { snapshot: 'golden', revision: 1 } }), true],
  ['is ready', done(), false],
  ['is ready, and is deleted', done({}, { deleted: true }), true],
  ['lost its snapshot', done({ conditions: ready('False', 'SnapshotLost') }), true],
  ['has an earlier revision', done({ revision: 2 }), true],
  [
    'keeps the snapshots of two revisions',
    done({ revisions: [snapshot, snapshot].map(({ name }) => ({ revision: 1, snapshot: name })) }),
    true,
  ],
  ['was pinned to a revision', done({ conditions: pinned }), true],
  ['tries again later', aVMDiskImage({ status: { phase: 'Retrying', attempt: 1 } }), true],
  ['failed', aVMDiskImage({ status: { phase: 'Failed', attempt: 1 } }), true],
  ['has a phase of another version', aVMDiskImage({ status: { phase: 'Verifying' } }), true],
])('an image that %s', (_, image, expected) => {
  expect(isUnsettled(image)).toBe(expected);
});
