import type { Action } from '../../../shared/actions.ts';
import { currentName, currentVolume, hasFinishedVolume } from '../../../shared/images/current-volume.ts';
import { publish, reportWhy, transition } from '../../../shared/images/status.ts';
import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { useRevision, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf, takenDown, withCondition, withProgress } from '../../../shared/kubernetes/conditions.ts';
import { formatDuration } from '../../../shared/kubernetes/duration.ts';
import { recordEvent } from '../../../shared/kubernetes/events.ts';
import { snapshotName } from '../../../shared/kubernetes/names.ts';
import { formatRefusal, refusalKey } from '../../../shared/kubernetes/refusal.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import { lasted } from '../../../shared/lasted.ts';
import { isValid } from '../../../shared/policy.ts';
import type { Reason } from '../../../shared/reasons/reason.ts';
import { sentence } from '../../../shared/sentence.ts';
import { traceOfImage } from '../../../shared/traces.ts';
import { isClone } from '../attempt/clone.ts';
import type { Observed } from '../observed.ts';
import { completed } from '../revision/revisions.ts';
import {
  isCutFrom,
  isLost,
  isLostInUse,
  isOf,
  isRemovable,
  isUsable,
  removeSnapshots,
  snapshotFor,
} from './snapshot.ts';

/** Waits for the snapshot of a downloaded image: creates it, and reports its outcome. */
export function snapshotting(observed: Observed): Action[] {
  const { image, dataVolumes, snapshots, policy, nowMs, refusals } = observed;
  const { revision = 1 } = image.status ?? {};
  const name = snapshotName(image.metadata, revision);
  const dataVolume = dataVolumes.find(({ metadata }) => metadata.name === currentName(image));
  const snapshot = snapshots.find(({ metadata }) => metadata.name === name);
  const isOfAnother = snapshot !== undefined && !isCutFrom(snapshot, dataVolume, currentName(image));
  if (snapshot && isUsable(snapshot) && !isOfAnother) return succeeded(observed, snapshot);
  const refusal = refusals.get(refusalKey(VolumeSnapshot, { namespace: image.metadata.namespace, name }));
  if (refusal)
    return snapshotFailed(
      observed,
      'Rejected',
      `The VolumeSnapshot was refused: ${sentence(formatRefusal(refusal))} ${keptUntil}`,
    );
  if (!dataVolume || dataVolume.status?.phase === 'Failed') {
    const found = dataVolume
      ? conditionOf(dataVolume?.status?.conditions, 'Bound')?.message || 'its DataVolume Failed'
      : 'its DataVolume is gone';
    return snapshotFailed(observed, 'VolumeLost', `The volume was lost before its snapshot was ready: ${found}.`);
  }
  if (snapshot && (isOfAnother || isLost(snapshot))) return inTheWay(observed, snapshot);
  if (isValid(policy, 'snapshotTimeout') && nowMs - sinceMs(image, dataVolume) >= policy.values.snapshotTimeout) {
    const found = snapshot?.status?.error?.message ?? 'no error';
    const within = `within snapshotTimeout (${formatDuration(policy.values.snapshotTimeout)})`;
    return snapshotFailed(
      observed,
      'SnapshotTimeout',
      `No usable snapshot ${within}; the snapshotter says: ${sentence(found)} ${keptUntil}`,
    );
  }
  return snapshot ? reportError(observed, snapshot) : makeSnapshot(image, dataVolume);
}

export const describeWait = (image: VMDiskImage) =>
  `${isClone(image) ? 'Cloned' : 'Downloaded'}; waiting for the snapshot.`;
const keptUntil =
  'The volume is kept; the snapshot is asked for again every ten minutes, and when annotation pelotech.ot/sync-requested has a new value.';

/** Reports the snapshotter's error while it lasts: the snapshotter retries, and no error is final. */
function reportError({ image, nowMs }: Observed, { status }: VolumeSnapshot): Action[] {
  if (status?.error) {
    const message = `${describeWait(image)} The snapshotter says: ${sentence(status.error.message)}`;
    return reportWhy(image, { reason: 'SnapshotError', message, nowMs });
  }
  if (conditionOf(image.status?.conditions, 'Ready')?.reason !== 'SnapshotError') return [];
  return reportWhy(
    image,
    { reason: isClone(image) ? 'Cloned' : 'Downloaded', message: describeWait(image), nowMs },
    'Normal',
  );
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

/** The start of the wait for the snapshot. If a user removed it from the status, the last known time before it. */
const sinceMs = ({ status }: VMDiskImage, dataVolume: DataVolume | undefined) =>
  [status?.snapshottingAt, status?.startedAt, dataVolume?.metadata.creationTimestamp]
    .map((time) => Date.parse(time ?? ''))
    .find(Number.isFinite) ?? 0;

function succeeded(observed: Observed, snapshot: VolumeSnapshot): Action[] {
  const { image, nowMs } = observed;
  const { startedAt, queuedAt } = image.status ?? {};
  const { stays, fields } = completed(observed, snapshot);
  const { name } = snapshot.metadata;
  const message = stays ? `Snapshot ${name} is ready.${stays}` : `Ready to clone from snapshot ${name}.`;
  const since = queuedAt ?? startedAt ?? '';
  return [
    ...transition(image, { to: 'Succeeded', reason: 'SnapshotReady', message, nowMs, fields }),
    lasted({ metric: 'ot.image.ready.duration', since, nowMs, trace: traceOfImage(image) }),
  ];
}

/** Sets snapshottingAt if it is missing, or start-sync would download again. */
function snapshotFailed(observed: Observed, reason: Reason, message: string): Action[] {
  const { image, dataVolumes, nowMs } = observed;
  const snapshottingAt =
    image.status?.snapshottingAt ?? toTime(sinceMs(image, currentVolume(image, dataVolumes)) || nowMs);
  return transition(image, {
    to: 'Failed',
    reason,
    message,
    nowMs,
    fields: { completedAt: toTime(nowMs), snapshottingAt },
  });
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

/** Whether machines can be cloned from the snapshot that the status names, in SnapshotLost and Ready. */
function reportLost({ image, nowMs }: Observed, isLost: boolean, message: string): Action[] {
  const conditions = withLost(image, isLost, message, nowMs);
  const reason = isLost ? 'SnapshotLost' : 'SnapshotReady';
  return [
    { do: 'patchStatus', resource: VMDiskImage, of: image, status: { conditions, message } },
    recordEvent(image, isLost, reason, message, `${image.status?.snapshot?.name}/${toTime(nowMs)}`),
    ...(isLost ? [] : [publishReady(image, image.status?.snapshot?.revision ?? 1, { reason, message, nowMs })]),
  ];
}

/** Notifies the machines that wait for the image, whatever its phase: they can be cloned from this revision. */
export const publishReady = (
  image: VMDiskImage,
  revision: number,
  { nowMs, ...why }: { reason: Reason; message: string; nowMs: number },
): Action => publish(image, 'ready', revision, toTime(nowMs), { phase: image.status?.phase, ...why });

export function withLost({ metadata, status }: VMDiskImage, isLost: boolean, message: string, nowMs: number) {
  const [now, said] = [toTime(nowMs), { message, observedGeneration: metadata.generation }];
  const reason = isLost ? 'SnapshotLost' : 'SnapshotReady';
  const lost = { type: 'SnapshotLost', status: isLost ? 'True' : 'False', reason, ...said } as const;
  const ready = { type: 'Ready', status: isLost ? 'False' : 'True', reason, ...said } as const;
  // Another revision may be under way, or have failed, while an earlier one is used.
  const before = status?.conditions ?? [];
  const others =
    status?.phase === 'Succeeded'
      ? withProgress(before, isLost ? 'Stalled' : undefined, { reason, ...said }, now)
      : before;
  return withCondition(withCondition(others, lost, now), ready, now);
}

/** The volume of the lost snapshot still exists, for example because of the policy's retainSourceVolume. */
function hasKeptItsVolume({ image, dataVolumes }: Observed): boolean {
  const { revision, snapshot } = image.status ?? {};
  return hasFinishedVolume(image, dataVolumes) && snapshot?.revision === revision;
}

/** Waits for a snapshot again. The same write reports a loss, because start-sync downloads a lost snapshot again if it is in use. */
function waitAgain({ image, nowMs }: Observed, name: string, why: 'lost' | 'not ready'): Action[] {
  const isLost = why === 'lost';
  const message = `The snapshot ${name} is ${why}; waiting for ${isLost ? 'another' : 'one that is ready'} of the volume that is kept. Nothing is downloaded.`;
  const known = isLost
    ? { ...image, status: { ...image.status, conditions: withLost(image, true, message, nowMs) } }
    : image;
  return transition(known, {
    to: 'Snapshotting',
    reason: isLost ? 'SnapshotLost' : 'SnapshotNotReady',
    message,
    nowMs,
    // Machines cannot be cloned from a snapshot that is not ready, so the status names none until it is.
    fields: { snapshottingAt: toTime(nowMs), completedAt: null, ...(isLost ? {} : { snapshot: null }) },
  });
}
