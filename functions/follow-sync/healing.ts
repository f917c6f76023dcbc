import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { conditionOf } from '../../shared/rules/conditions.ts';
import { contentDigest } from '../../shared/rules/content-digest.ts';
import { move } from '../../shared/rules/image-status.ts';
import { snapshotName } from '../../shared/rules/names.ts';
import { refusalKey } from '../../shared/rules/refusal-key.ts';
import { toTime } from '../../shared/rules/time.ts';
import { currentName, currentVolume, type Observed } from './observed.ts';
import { isCutFrom, isLost, isUsable } from './snapshot.ts';
import { makeSnapshot } from './snapshotting.ts';

/**
 * An image that Failed for want of its snapshot: the download is paid for. It goes back to Snapshotting when that snapshot is usable
 * after all, or, where the API server had refused it, when it is made; each audit asks for it again where the volume is kept.
 */
export function healing(observed: Observed): Action[] {
  const { image, snapshots, isAudit, refusals, nowMs } = observed;
  const { snapshottingAt, contentDigest: downloaded, revision = 1, conditions } = image.status ?? {};
  // Another content is start-sync's to queue.
  if (snapshottingAt === undefined || downloaded !== contentDigest(image)) return [];
  const volume = currentVolume(observed);
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
