import type { Action } from '../../../shared/actions.ts';
import { snapshotName } from '../../../shared/images/children.ts';
import { currentName, hasFinishedVolume } from '../../../shared/images/current-volume.ts';
import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { useRevision, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf, takenDown } from '../../../shared/kubernetes/conditions.ts';
import { formatRefusal, refusalKey } from '../../../shared/kubernetes/refusal.ts';
import { sentence } from '../../../shared/sentence.ts';
import { traceOfImage } from '../../../shared/traces.ts';
import type { Observed } from '../observed.ts';
import { keptUntil, reportError, reportLost, snapshotFailed, succeeded, waitAgain } from '../status.ts';
import { limitPassed } from '../time-limit.ts';
import {
  isCutFrom,
  isLost,
  isLostInUse,
  isOf,
  isRemovable,
  isUsable,
  removeSnapshots,
  sinceMs,
  snapshotFor,
} from './snapshot.ts';

/** Waits for the snapshot of a downloaded image: creates it, and reports its outcome. */
export function snapshotting(observed: Observed): Action[] {
  const { image, dataVolumes, snapshots, refusals } = observed;
  const { revision = 1 } = image.status ?? {};
  const name = snapshotName(image.metadata, revision);
  const dataVolume = dataVolumes.find(({ metadata }) => metadata.name === currentName(image));
  const snapshot = snapshots.find(({ metadata }) => metadata.name === name);
  const isOfAnother = snapshot !== undefined && !isCutFrom(snapshot, dataVolume, currentName(image));
  if (snapshot && isUsable(snapshot) && !isOfAnother) return succeeded(observed, snapshot);
  const refusal = refusals.get(refusalKey(VolumeSnapshot, { namespace: image.metadata.namespace, name }));
  if (refusal) {
    const message = `The VolumeSnapshot was refused: ${sentence(formatRefusal(refusal))} ${keptUntil}`;
    return snapshotFailed(observed, 'Rejected', message);
  }
  if (!dataVolume || dataVolume.status?.phase === 'Failed') {
    const found = dataVolume
      ? conditionOf(dataVolume?.status?.conditions, 'Bound')?.message || 'its DataVolume Failed'
      : 'its DataVolume is gone';
    return snapshotFailed(observed, 'VolumeLost', `The volume was lost before its snapshot was ready: ${found}.`);
  }
  if (snapshot && (isOfAnother || isLost(snapshot))) return inTheWay(observed, snapshot);
  const limit = limitPassed(observed, 'snapshotTimeout', sinceMs(image, dataVolume));
  if (limit) {
    const found = snapshot?.status?.error?.message ?? 'no error';
    const message = `No usable snapshot within ${limit}; the snapshotter says: ${sentence(found)} ${keptUntil}`;
    return snapshotFailed(observed, 'SnapshotTimeout', message);
  }
  return snapshot ? reportError(observed, snapshot) : makeSnapshot(image, dataVolume);
}

/**
 * A snapshot with the name of this revision is lost or holds another download, for example after a user edited the status. It is
 * deleted if it is the image's and no machine is cloned from it. The volume exists, so the right snapshot can be taken.
 */
function inTheWay(observed: Observed, snapshot: VolumeSnapshot): Action[] {
  const { image } = observed;
  const { name, deletionTimestamp } = snapshot.metadata;
  if (deletionTimestamp) return [];
  if (isRemovable(image, snapshot)) return removeSnapshots(image, [snapshot]);
  const message = `VolumeSnapshot ${name} was not cut from the volume of this download; remove it. ${keptUntil}`;
  return snapshotFailed(observed, 'Rejected', message);
}

export function makeSnapshot(image: VMDiskImage, dataVolume: DataVolume): Action[] {
  const { revision = 1 } = image.status ?? {};
  const object = snapshotFor(image, revision, dataVolume.status?.claimName ?? dataVolume.metadata.name);
  return [{ do: 'create', resource: VolumeSnapshot, object, owner: image.metadata.uid, trace: traceOfImage(image) }];
}

/** Reports a lost snapshot at once, and takes it again if its volume exists. A list is never evidence of a loss. */
export function checkSnapshot(observed: Observed): Action[] {
  const { image, snapshots } = observed;
  const held = image.status?.snapshot;
  const isDeleting = image.metadata.deletionTimestamp !== undefined;
  if (!held || (image.status?.phase !== 'Succeeded' && !isDeleting)) return [];
  // prune deletes it, which is no loss.
  if (conditionOf(image.status?.conditions, 'Ready')?.reason === takenDown) return [];
  const snapshot = snapshots.find(({ metadata }) => metadata.name === held.name);
  const state = stateOf(observed, snapshot);
  if ((state === 'lost' || state === 'not ready') && !isDeleting && hasKeptItsVolume(observed))
    return waitAgain(observed, held.name, state);
  const isLost = state === 'lost' || state === 'taken';
  const isReported = conditionOf(image.status?.conditions, 'SnapshotLost')?.status === 'True';
  if (isLost === isReported || (!isLost && state !== 'usable')) return [];
  if (!isLost) return reportLost(observed, false, 'The snapshot exists.');
  const what =
    state === 'taken'
      ? 'is lost, and another snapshot has its name'
      : `is ${snapshot?.metadata.deletionTimestamp ? 'being deleted' : 'lost'}`;
  return reportLost(observed, true, `The snapshot ${held.name} ${what}; ${afterLoss(image)}.`);
}

/**
 * The state of the snapshot that the status names; undefined if it was not found and is not known to be deleted. It may be not ready if
 * another process of this function took it again while this one reported the earlier, ready one.
 */
function stateOf({ image, isSnapshotGone }: Observed, snapshot: VolumeSnapshot | undefined) {
  if (snapshot && !isOf(image, snapshot)) return 'taken';
  if (isSnapshotGone || (snapshot && isLostInUse(snapshot))) return 'lost';
  return snapshot && (isUsable(snapshot) ? 'usable' : 'not ready');
}

function afterLoss({ metadata, status }: VMDiskImage): string {
  if (metadata.deletionTimestamp) return 'the image is being deleted';
  return status?.snapshot?.revision === status?.revision
    ? 'a new sync starts when the image is used or asked for'
    : `remove annotation ${useRevision} to use revision ${status?.revision}`;
}

/** The volume of the lost snapshot still exists, for example because of the policy's retainSourceVolume. */
function hasKeptItsVolume({ image, dataVolumes }: Observed): boolean {
  const { revision, snapshot } = image.status ?? {};
  return hasFinishedVolume(image, dataVolumes) && snapshot?.revision === revision;
}
