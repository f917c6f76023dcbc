import { syncRequested } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { conditionOf } from '../../shared/rules/conditions.ts';
import { contentDigest, contentStatus } from '../../shared/rules/content-digest.ts';
import { move } from '../../shared/rules/image-status.ts';
import { snapshotName } from '../../shared/rules/names.ts';
import { refusalKey } from '../../shared/rules/refusal-key.ts';
import { isSnapshotAsked } from '../../shared/rules/snapshot-asked.ts';
import { toTime } from '../../shared/rules/time.ts';
import { currentName, currentVolume, isDownloaded, type Observed } from './observed.ts';
import { isCutFrom, isLost, isUsable } from './snapshot.ts';
import { makeSnapshot } from './snapshotting.ts';

/**
 * An image that Failed although it is downloaded, most often for want of its snapshot: the download is paid for. It goes back to
 * Snapshotting when that snapshot is usable after all, or, where the API server had refused it, when it is made; each audit, and
 * sync-requested, ask for it again where the volume is kept.
 */
export function healing(observed: Observed): Action[] {
  const { image, dataVolumes, snapshots, isAudit, refusals, nowMs } = observed;
  if (isSnapshotAsked(image, dataVolumes)) return askedFor(observed);
  const { snapshottingAt, contentDigest: downloaded, revision = 1, conditions } = image.status ?? {};
  const volume = currentVolume(observed);
  // Another content is start-sync's to queue.
  if (downloaded !== contentDigest(image) || !(snapshottingAt || isDownloaded(volume))) return [];
  const name = snapshotName(image.metadata, revision);
  const snapshot = snapshots.find(({ metadata }) => metadata.name === name);
  if (snapshot) {
    const wasRefused = conditionOf(conditions, 'Ready')?.reason === 'Rejected';
    const isThere = isUsable(snapshot) || (wasRefused && !isLost(snapshot));
    if (!isThere || !isCutFrom(snapshot, volume, currentName(image))) return [];
    const message = 'Downloaded; waiting for the snapshot, which was made after all.';
    const fields = { snapshottingAt: toTime(nowMs), completedAt: null };
    return move(image, { to: 'Snapshotting', reason: 'SnapshotMade', message, nowMs, fields });
  }
  const isRefused = refusals.has(refusalKey(VolumeSnapshot, { namespace: image.metadata.namespace, name }));
  return isAudit && !isRefused && volume?.status?.phase === 'Succeeded' ? makeSnapshot(image, volume) : [];
}

/** The status serves that request from now on: the wait begins anew, once. */
function askedFor({ image, nowMs }: Observed): Action[] {
  const message = `Waiting for the snapshot again, as annotation ${syncRequested} asks; nothing is downloaded.`;
  const fields = { ...contentStatus(image), snapshottingAt: toTime(nowMs), completedAt: null };
  return move(image, { to: 'Snapshotting', reason: 'SnapshotRequested', message, nowMs, fields });
}
