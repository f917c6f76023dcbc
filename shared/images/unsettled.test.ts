import { expect, test } from 'vitest';
import { at, aVMDiskImage, type ImageOptions } from '../../test/support/builders/images.ts';
import { useRevision, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { snapshotName } from '../kubernetes/names.ts';
import { isUnsettled } from './unsettled.ts';

const queued = (options: ImageOptions = {}) => aVMDiskImage({ status: { phase: 'Queued', attempt: 0 }, ...options });
const ready = (status: 'True' | 'False', reason: string) => [
  { type: 'Ready', status, reason, message: '', lastTransitionTime: at(0) },
];
const syncing = aVMDiskImage({ status: { phase: 'Syncing', revision: 1, attempt: 1 } });
const snapshotting = (reason: string, status: object = {}) =>
  aVMDiskImage({ status: { ...syncing.status, phase: 'Snapshotting', conditions: ready('False', reason), ...status } });
const snapshot = { name: snapshotName(syncing.metadata, 1), revision: 1 };
const done = (status: object = {}, options: ImageOptions = {}) =>
  aVMDiskImage({
    status: {
      ...{ phase: 'Succeeded', revision: 1, attempt: 1, snapshot, conditions: ready('True', 'SnapshotReady') },
      revisions: [{ revision: 1, snapshot: snapshot.name }],
      ...status,
    },
    ...options,
  });
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
