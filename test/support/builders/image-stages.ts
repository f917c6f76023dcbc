import { snapshotName } from '../../../shared/images/children.ts';
import { at, aVMDiskImage, type ImageOptions } from './images.ts';

/** It waits for its first slot. */
export const queued = (options: ImageOptions = {}) =>
  aVMDiskImage({ status: { phase: 'Queued', attempt: 0 }, ...options });

/** Its condition Ready. */
export const ready = (status: 'True' | 'False', reason: string) => [
  { type: 'Ready', status, reason, message: '', lastTransitionTime: at(0) },
];

/** Its first download runs. */
export const syncing = aVMDiskImage({ status: { phase: 'Syncing', revision: 1, attempt: 1 } });

/** Its first download is done. */
export const snapshotting = (reason: string, status: object = {}) =>
  aVMDiskImage({ status: { ...syncing.status, phase: 'Snapshotting', conditions: ready('False', reason), ...status } });

/** The snapshot of its first revision. */
export const snapshot = { name: snapshotName(syncing.metadata, 1), revision: 1 };

/** It is Ready from that snapshot. */
export const done = (status: object = {}, options: ImageOptions = {}) =>
  aVMDiskImage({
    status: {
      ...{ phase: 'Succeeded', revision: 1, attempt: 1, snapshot, conditions: ready('True', 'SnapshotReady') },
      revisions: [{ revision: 1, snapshot: snapshot.name }],
      ...status,
    },
    ...options,
  });
