import { deletionOf, patchOf, withoutFinalizer } from '../controller/write.ts';
import { finalizer, snapshotAnnotation, VolumeSnapshot, VolumeSnapshotContent } from './kinds.ts';
import { type ObservedSnapshot, type SnapshotStep, says } from './snapshot-observed.ts';

const done: SnapshotStep = { writes: [] };

/** The steps of a deletion: with policy Delete the content goes first, and nothing while a claim is being restored. */
export function deletion({ snapshot, content, isBeingRestored }: ObservedSnapshot): SnapshotStep {
  const { finalizers = [] } = snapshot.metadata;
  const held = finalizers.filter((one) => one === finalizer.asSource || one === finalizer.bound);
  if (held.length === 0) return done;
  if (content && isBeingRestored) {
    const message = 'Snapshot is being used to restore a PVC';
    return { writes: [says(snapshot, 'Warning', 'SnapshotDeletePending', message)], failure: message };
  }
  if (content && content.metadata.annotations?.[snapshotAnnotation.beingDeleted] === undefined) {
    const annotations = { [snapshotAnnotation.beingDeleted]: 'yes' };
    return { writes: [patchOf(VolumeSnapshotContent, content, { metadata: { annotations } })] };
  }
  const goesToo = content?.spec.deletionPolicy === 'Delete';
  if (goesToo && !content.metadata.deletionTimestamp) return { writes: [deletionOf(VolumeSnapshotContent, content)] };
  if (held.includes(finalizer.asSource))
    return { writes: [withoutFinalizer(VolumeSnapshot, snapshot, finalizer.asSource)] };
  return goesToo ? done : { writes: [withoutFinalizer(VolumeSnapshot, snapshot, finalizer.bound)] };
}
