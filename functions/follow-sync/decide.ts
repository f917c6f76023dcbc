import { type DataVolume, DataVolume as DataVolumeKind } from '../../shared/resources/cdi/data-volume.ts';
import type { Pod } from '../../shared/resources/core/pod.ts';
import {
  attemptLabel,
  revisionLabel,
  type VMDiskImage,
  VMDiskImage as VMDiskImageKind,
  type VMDiskImageStatus,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import {
  type VolumeSnapshot,
  VolumeSnapshot as VolumeSnapshotKind,
} from '../../shared/resources/snapshot/volume-snapshot.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { attemptEnd } from '../../shared/rules/attempt-end.ts';
import { backoffMs } from '../../shared/rules/backoff.ts';
import { withCondition } from '../../shared/rules/conditions.ts';
import { sayDuration } from '../../shared/rules/duration.ts';
import { move, record, traceOf } from '../../shared/rules/image-status.ts';
import { dataVolumeName, snapshotName } from '../../shared/rules/names.ts';
import { isValid, type Policy } from '../../shared/rules/policy.ts';
import { toMicroTime, toTime } from '../../shared/rules/time.ts';
import { conditionOf, type Failure, failureOf } from './failure.ts';
import { progressOf } from './progress.ts';
import { snapshotFor } from './snapshot.ts';

/** One image and everything that was made for it. */
export interface Observed {
  nowMs: number;
  policy: Policy;
  image: VMDiskImage;
  dataVolumes: readonly DataVolume[];
  pods: readonly Pod[];
  snapshots: readonly VolumeSnapshot[];
  /** The API server answered 404 for the very snapshot that the image's status names. */
  isSnapshotGone: boolean;
  refusals: ReadonlyMap<string, string>;
}

/**
 * Follows an attempt to its end: the status (cause, attempts, what next) is written before anything is deleted, so that
 * no evidence is lost; a DataVolume that is not the current attempt's goes on sight.
 */
export function decide(observed: Observed): Action[] {
  const { image } = observed;
  if (image.metadata.deletionTimestamp) return [];
  const step =
    image.status?.phase === 'Syncing'
      ? syncing(observed)
      : image.status?.phase === 'Snapshotting'
        ? snapshotting(observed)
        : atRest(observed);
  return [...step, ...leftovers(observed)];
}

function syncing(observed: Observed): Action[] {
  const { image, dataVolumes, nowMs } = observed;
  const dataVolume = dataVolumes.find(({ metadata }) => metadata.name === currentName(image));
  const failure = failureOf({ ...observed, dataVolume, pods: podsOf(observed) });
  if (failure) return [...failed(observed, failure), ...(dataVolume ? [remove(image, dataVolume)] : [])];
  if (!dataVolume) return [];
  // CDI: a populated DataVolume is Succeeded before its claim is bound, and a snapshot cut in between fails for minutes.
  if (dataVolume.status?.phase === 'Succeeded' && conditionOf(dataVolume, 'Bound')?.status === 'True') {
    return [
      ...move(image, {
        to: 'Snapshotting',
        reason: 'Downloaded',
        message: 'Downloaded; waiting for the snapshot.',
        nowMs,
        fields: { progress: '100%', dataVolume: dataVolume.metadata.name, snapshottingAt: toTime(nowMs) },
      }),
      ...attemptEnd(image, { result: 'success', reason: 'Downloaded', nowMs }),
      ...makeSnapshot(image, dataVolume),
    ];
  }
  return progressOf(image, dataVolume, podsOf(observed));
}

function failed({ image, policy, nowMs }: Observed, failure: Failure): Action[] {
  const { attempts = 1, attempt = 1 } = image.status ?? {};
  const { retryLimit, retryBackoffDuration, maxRetryBackoffDuration } = policy.values;
  const counted = failure.isUncounted ? Math.max(0, attempts - 1) : attempts;
  const isSpent = isValid(policy, 'retryLimit') && !failure.isUncounted && attempts > retryLimit;
  const isUnstarted = failure.isUncounted ?? false;
  const measures = attemptEnd(image, { result: 'failure', reason: failure.reason, nowMs, isUnstarted });
  if (failure.isFinal || isSpent) {
    const why = failure.isFinal
      ? 'Not tried again'
      : `Given up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
    const message = `${why}: ${failure.message.replace(/\.?$/, '.')} To try again set annotation pelotech.ot/sync-requested to a new value.`;
    const fields = { attempts: counted, completedAt: toTime(nowMs), nextAttemptAt: null };
    return [...move(image, { to: 'Failed', reason: failure.reason, message, nowMs, fields }), ...measures];
  }
  const waitMs = backoffMs(attempt, retryBackoffDuration, maxRetryBackoffDuration);
  const message = `${failure.message.replace(/\.?$/, '.')} Next attempt in ${sayDuration(waitMs)}.`;
  const fields = { attempts: counted, nextAttemptAt: toMicroTime(nowMs + waitMs) };
  return [...move(image, { to: 'Retrying', reason: failure.reason, message, nowMs, fields }), ...measures];
}

function snapshotting(observed: Observed): Action[] {
  const { image, dataVolumes, snapshots, policy, nowMs, refusals } = observed;
  const { revision = 1, snapshottingAt = '' } = image.status ?? {};
  const name = snapshotName(image.metadata, revision);
  const dataVolume = dataVolumes.find(({ metadata }) => metadata.name === currentName(image));
  const snapshot = snapshots.find(({ metadata }) => metadata.name === name);
  if (snapshot?.status?.readyToUse) return succeeded(observed, snapshot);
  const refusal = refusals.get(name);
  if (refusal) return snapshotFailed(observed, 'Rejected', `The VolumeSnapshot was refused: ${refusal}`);
  if (!dataVolume || dataVolume.status?.phase === 'Failed') {
    const found = dataVolume
      ? conditionOf(dataVolume, 'Bound')?.message || 'its DataVolume Failed'
      : 'its DataVolume is gone';
    return snapshotFailed(observed, 'VolumeLost', `The volume was lost before its snapshot was ready: ${found}.`);
  }
  if (isValid(policy, 'snapshotTimeout') && nowMs - Date.parse(snapshottingAt) >= policy.values.snapshotTimeout) {
    const found = snapshot?.status?.error?.message ?? 'no error';
    const within = `within snapshotTimeout (${sayDuration(policy.values.snapshotTimeout)})`;
    return snapshotFailed(
      observed,
      'SnapshotTimeout',
      `No usable snapshot ${within}; the snapshotter says: ${found}. The volume is kept.`,
    );
  }
  return snapshot ? [] : makeSnapshot(image, dataVolume);
}

function succeeded({ image, nowMs }: Observed, snapshot: VolumeSnapshot): Action[] {
  const { revision = 1, startedAt, queuedAt } = image.status ?? {};
  const restoreSize = snapshot.status?.restoreSize;
  const held: NonNullable<VMDiskImageStatus['snapshot']> = {
    name: snapshot.metadata.name,
    revision,
    ...(restoreSize ? { restoreSize } : {}),
  };
  const since = queuedAt ?? startedAt ?? '';
  return [
    ...move(image, {
      to: 'Succeeded',
      reason: 'SnapshotReady',
      message: `Ready to clone from snapshot ${snapshot.metadata.name}.`,
      nowMs,
      fields: { snapshot: held, completedAt: toTime(nowMs) },
    }),
    { do: 'measure', metric: 'ot.image.ready.duration', value: Math.max(0, nowMs - Date.parse(since)) / 1000 },
  ];
}

const snapshotFailed = ({ image, nowMs }: Observed, reason: string, message: string): Action[] =>
  move(image, { to: 'Failed', reason, message, nowMs, fields: { completedAt: toTime(nowMs) } });

function makeSnapshot(image: VMDiskImage, dataVolume: DataVolume): Action[] {
  const { revision = 1 } = image.status ?? {};
  const object = snapshotFor(image, revision, dataVolume.status?.claimName ?? dataVolume.metadata.name);
  return [{ do: 'create', resource: VolumeSnapshotKind, object, owner: image.metadata.uid, trace: traceOf(image) }];
}

/** A snapshot that is gone, or whose content is, is said at once; no list is ever taken as evidence of it. */
function atRest({ image, snapshots, nowMs, isSnapshotGone }: Observed): Action[] {
  const held = image.status?.snapshot;
  if (image.status?.phase !== 'Succeeded' || !held) return [];
  const snapshot = snapshots.find(({ metadata }) => metadata.name === held.name);
  const isLost = isSnapshotGone || /VolumeSnapshotContent is missing/.test(snapshot?.status?.error?.message ?? '');
  const isSaid =
    image.status.conditions?.some(({ type, status }) => type === 'SnapshotLost' && status === 'True') ?? false;
  if (isLost === isSaid || (!isLost && !snapshot?.status?.readyToUse)) return [];
  const message = isLost
    ? `The snapshot ${held.name} is lost; a new sync starts when the image is used or asked for.`
    : 'The snapshot is there.';
  const observedGeneration = image.metadata.generation;
  const now = toTime(nowMs);
  const reason = isLost ? 'SnapshotLost' : 'SnapshotReady';
  const lost = withCondition(
    image.status.conditions,
    { type: 'SnapshotLost', status: isLost ? 'True' : 'False', reason, message, observedGeneration },
    now,
  );
  const conditions = withCondition(
    lost,
    { type: 'Ready', status: isLost ? 'False' : 'True', reason, message, observedGeneration },
    now,
  );
  return [
    { do: 'patchStatus', resource: VMDiskImageKind, of: image, status: { conditions, message }, trace: traceOf(image) },
    record(image, isLost, reason, message, `${held.name}/${now}`),
  ];
}

/** Volumes of earlier attempts, the source volume once its snapshot is ready, snapshots of earlier revisions. */
function leftovers(observed: Observed): Action[] {
  const { image, dataVolumes, snapshots } = observed;
  const { phase, snapshot } = image.status ?? {};
  const old =
    phase === 'Succeeded' && snapshot
      ? snapshots.filter((found) => numberOf(found, revisionLabel) < snapshot.revision)
      : [];
  return [
    ...dataVolumes
      .filter((dataVolume) => !dataVolume.metadata.deletionTimestamp && isLeftOver(observed, dataVolume))
      .map((dataVolume) => remove(image, dataVolume)),
    ...old
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map((found): Action => ({ do: 'delete', resource: VolumeSnapshotKind, of: found, trace: traceOf(image) })),
  ];
}

function isLeftOver({ image, policy }: Observed, dataVolume: DataVolume): boolean {
  const { phase, revision = 0, attempt = 0, snapshot } = image.status ?? {};
  const order = numberOf(dataVolume, revisionLabel) - revision || numberOf(dataVolume, attemptLabel) - attempt;
  // Made after this image was read: the next pass sees both.
  if (order > 0) return false;
  if (order < 0) return true;
  if (phase === 'Succeeded')
    return (
      snapshot?.revision === revision && !policy.values.retainSourceVolume && isValid(policy, 'retainSourceVolume')
    );
  // A volume whose snapshot did not come in time is kept: the download is paid for.
  if (phase === 'Failed') return image.status?.snapshottingAt === undefined;
  return phase === 'Retrying' || phase === 'Queued';
}

const remove = (image: VMDiskImage, dataVolume: DataVolume): Action => ({
  do: 'delete',
  resource: DataVolumeKind,
  of: dataVolume,
  trace: traceOf(image),
});

const numberOf = (object: DataVolume | VolumeSnapshot, label: string) => Number(object.metadata.labels?.[label] ?? 0);

const currentName = ({ metadata, status }: VMDiskImage) =>
  dataVolumeName(metadata, status?.revision ?? 1, status?.attempt ?? 1);

const podsOf = ({ pods, image }: Observed) =>
  pods.filter(
    (pod) =>
      pod.metadata.labels?.[revisionLabel] === String(image.status?.revision) &&
      pod.metadata.labels?.[attemptLabel] === String(image.status?.attempt),
  );
