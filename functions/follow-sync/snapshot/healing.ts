import type { Action } from '../../../shared/actions.ts';
import { snapshotName } from '../../../shared/images/children.ts';
import { contentDigest, contentStatus } from '../../../shared/images/content-digest.ts';
import { currentName, currentVolume } from '../../../shared/images/current-volume.ts';
import { isSnapshotAsked } from '../../../shared/images/snapshot-asked.ts';
import { transition } from '../../../shared/images/status.ts';
import { syncRequested } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { refusalKey } from '../../../shared/kubernetes/refusal.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import { isDownloaded, type Observed } from '../observed.ts';
import { isCutFrom, isLost, isRemovable, isUsable, removeSnapshots } from './snapshot.ts';
import { makeSnapshot } from './snapshotting.ts';

/** Why an image Fails that is downloaded. A user may have removed snapshottingAt, and its volume may be lost. */
const afterDownload = ['SnapshotTimeout', 'SnapshotFailed', 'VolumeLost', 'Rejected'];

/**
 * Recovers an image that Failed although it is downloaded, most often because its snapshot failed. The image becomes Snapshotting
 * when that snapshot is usable after all, or when it is created after a refusal by the API server. Each audit, and sync-requested,
 * create the snapshot again if the volume exists; a snapshot in the way is deleted first.
 */
export function healing(observed: Observed): Action[] {
  const { image, dataVolumes, snapshots, isAudit, refusals, nowMs } = observed;
  if (isSnapshotAsked(image, dataVolumes)) return askedFor(observed);
  const { snapshottingAt, contentDigest: downloaded, revision = 1, conditions } = image.status ?? {};
  const volume = currentVolume(image, dataVolumes);
  const { reason = '' } = conditionOf(conditions, 'Ready') ?? {};
  const wasDownloaded = snapshottingAt || isDownloaded(volume) || afterDownload.includes(reason);
  // start-sync queues another content.
  if (downloaded !== contentDigest(image) || !wasDownloaded) return [];
  const name = snapshotName(image.metadata, revision);
  const snapshot = snapshots.find(({ metadata }) => metadata.name === name);
  if (snapshot) {
    const wasRefused = reason === 'Rejected';
    const isThere = isUsable(snapshot) || (wasRefused && !isLost(snapshot));
    const isOfAnother = !isCutFrom(snapshot, volume, currentName(image));
    if (isAudit && isDownloaded(volume) && (isOfAnother || isLost(snapshot)) && isRemovable(image, snapshot))
      return removeSnapshots(image, [snapshot]);
    if (!isThere || isOfAnother) return [];
    const message = 'Downloaded; waiting for the snapshot, which exists after all.';
    const fields = { snapshottingAt: toTime(nowMs), completedAt: null };
    return transition(image, { to: 'Snapshotting', reason: 'SnapshotMade', message, nowMs, fields });
  }
  const isRefused = refusals.has(refusalKey(VolumeSnapshot, { namespace: image.metadata.namespace, name }));
  return isAudit && !isRefused && volume?.status?.phase === 'Succeeded' ? makeSnapshot(image, volume) : [];
}

/** The status records the request, so that the wait restarts once. */
function askedFor({ image, nowMs }: Observed): Action[] {
  const message = `Waiting for the snapshot again, as annotation ${syncRequested} asks; nothing is downloaded.`;
  const fields = { ...contentStatus(image), snapshottingAt: toTime(nowMs), completedAt: null };
  return transition(image, { to: 'Snapshotting', reason: 'SnapshotRequested', message, nowMs, fields });
}
