import { keyOf } from '../../../shared/kinds/resource.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import { Claim } from '../controller/kinds.ts';
import { quantityOf } from '../controller/quantity.ts';
import { patchOf, statusOf, type Write, withFinalizer, withoutFinalizer } from '../controller/write.ts';
import { finalizer, VolumeSnapshot, type VolumeSnapshotContent, type VolumeSnapshotStatus } from './kinds.ts';
import { creation } from './snapshot-creation.ts';
import { deletion } from './snapshot-deletion.ts';
import { failing, type ObservedSnapshot, type SnapshotStep, says, unbound } from './snapshot-observed.ts';

const done: SnapshotStep = { writes: [] };
const lostMessage = 'VolumeSnapshotContent is missing';

/** The next step about a VolumeSnapshot, in the order of the external-snapshotter: class, finalizers, content, status. */
export function nextForSnapshot(observed: ObservedSnapshot): SnapshotStep {
  const { snapshot, content } = observed;
  if (snapshot.metadata.deletionTimestamp) return deletion(observed);
  const classless = classStep(observed);
  if (classless) return classless;
  const { finalizers = [] } = snapshot.metadata;
  if (!finalizers.includes(finalizer.asSource))
    return { writes: [withFinalizer(VolumeSnapshot, snapshot, finalizer.asSource)] };
  if (content?.spec.deletionPolicy === 'Delete' && isBound(snapshot) && !finalizers.includes(finalizer.bound))
    return { writes: [withFinalizer(VolumeSnapshot, snapshot, finalizer.bound)] };
  if (content) return statusStep(observed, content);
  if (snapshot.status?.readyToUse) return lost(observed);
  // The real controller would try to create the content again, from a claim that is usually deleted.
  return snapshot.status?.error?.message === lostMessage ? done : creation(observed);
}

const isBound = ({ status }: VolumeSnapshot) => status?.boundVolumeSnapshotContentName !== undefined;

function classStep({
  snapshot,
  snapshotClass,
  defaultClasses,
  claim,
  nowMs,
}: ObservedSnapshot): SnapshotStep | undefined {
  const { volumeSnapshotClassName: name, source } = snapshot.spec;
  if (snapshotClass || source.volumeSnapshotContentName !== undefined) return undefined;
  if (name !== undefined) {
    const cause = `Failed to get snapshot class with error volumesnapshotclass.snapshot.storage.k8s.io "${name}" not found`;
    return failing(snapshot, 'GetSnapshotClassFailed', cause, nowMs, {});
  }
  const [only, ...more] = defaultClasses;
  if (only && more.length === 0)
    return { writes: [patchOf(VolumeSnapshot, snapshot, { spec: { volumeSnapshotClassName: only.metadata.name } })] };
  const found = only
    ? `${defaultClasses.length} default snapshot classes were found`
    : 'cannot find default snapshot class';
  const why = unbound(claim, source.persistentVolumeClaimName) ?? found;
  const message = `Failed to set default snapshot class with error ${why}`;
  return failing(snapshot, 'SetDefaultSnapshotClassFailed', message, nowMs, {});
}

function lost({ snapshot, nowMs }: ObservedSnapshot): SnapshotStep {
  const { writes } = failing(snapshot, 'SnapshotContentMissing', lostMessage, nowMs, { readyToUse: false });
  return { writes };
}

/** Copies what the content says into the snapshot's status; readyToUse clears an error. */
function statusStep(
  { snapshot, claim, isClaimNeeded }: ObservedSnapshot,
  content: VolumeSnapshotContent,
): SnapshotStep {
  const before = snapshot.status ?? {};
  const { creationTime, restoreSize, readyToUse = false, error } = content.status ?? {};
  const next: VolumeSnapshotStatus = {
    boundVolumeSnapshotContentName: content.metadata.name,
    readyToUse,
    ...(creationTime === undefined ? {} : { creationTime: toTime(creationTime / 1e6) }),
    ...(restoreSize === undefined ? {} : { restoreSize: quantityOf(restoreSize) }),
    ...(error ? { error } : {}),
  };
  const changed = JSON.stringify(shown(before)) !== JSON.stringify(shown(next));
  if (!changed) return readyToUse && !isClaimNeeded ? { writes: releaseOf(claim) } : done;
  const isCut = before.creationTime === undefined && next.creationTime !== undefined;
  const isReady = !before.readyToUse && readyToUse;
  const created = `Snapshot ${keyOf(snapshot.metadata)} was successfully created by the CSI driver.`;
  const ready = `Snapshot ${keyOf(snapshot.metadata)} is ready to use.`;
  return {
    writes: [
      statusOf(VolumeSnapshot, snapshot, { ...next, error: error ?? null }),
      ...(isCut ? [says(snapshot, 'Normal', 'SnapshotCreated', created)] : []),
      ...(isReady ? [says(snapshot, 'Normal', 'SnapshotReady', ready)] : []),
    ],
  };
}

const shown = ({
  boundVolumeSnapshotContentName,
  readyToUse,
  creationTime,
  restoreSize,
  error,
}: VolumeSnapshotStatus) => [
  boundVolumeSnapshotContentName,
  readyToUse,
  creationTime,
  restoreSize,
  error?.message,
  error?.time,
];

/** Lets go of a claim that no snapshot is being taken of any more. */
export const releaseOf = (claim: Claim | undefined): Write[] =>
  claim?.metadata.finalizers?.includes(finalizer.claim) ? [withoutFinalizer(Claim, claim, finalizer.claim)] : [];
