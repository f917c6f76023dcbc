import { Claim } from '../cdi/kinds.ts';
import { quantityOf } from '../cdi/quantity.ts';
import { volumeHandleOf } from '../cdi/volume.ts';
import { deletionOf, patchOf, statusOf, timestamp, type Write, withFinalizer, withoutFinalizer } from '../cdi/write.ts';
import {
  contentName,
  finalizer,
  snapshotAnnotation,
  VolumeSnapshot,
  type VolumeSnapshotClass,
  VolumeSnapshotContent,
  type VolumeSnapshotStatus,
} from './kinds.ts';

export interface ObservedSnapshot {
  snapshot: VolumeSnapshot;
  content: VolumeSnapshotContent | undefined;
  claim: Claim | undefined;
  /** The class its spec names. */
  snapshotClass: VolumeSnapshotClass | undefined;
  /** The default classes of the driver that the claim's volume is of. */
  defaultClasses: VolumeSnapshotClass[];
  /** Another snapshot of the claim is still being taken. */
  isClaimNeeded: boolean;
  /** A claim of the namespace is just being restored from it. */
  isBeingRestored: boolean;
  nowMs: number;
}

/** What comes next, and whether it is an error that is going to be tried again. */
export interface SnapshotStep {
  writes: Write[];
  failure?: string;
}

const component = 'snapshot-controller';
const done: SnapshotStep = { writes: [] };
const lostMessage = 'VolumeSnapshotContent is missing';

const says = (snapshot: VolumeSnapshot, type: 'Normal' | 'Warning', reason: string, message: string): Write => ({
  do: 'event',
  about: snapshot,
  from: component,
  type,
  reason,
  message,
});

const keyOf = ({ metadata }: VolumeSnapshot) => `${metadata.namespace}/${metadata.name}`;

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
  // The real controller would try to make the content anew, from a claim that is usually gone.
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

function unbound(claim: Claim | undefined, name = ''): string | undefined {
  if (!claim) return `failed to retrieve PVC ${name} from the lister: "persistentvolumeclaim \\"${name}\\" not found"`;
  return claim.status?.phase === 'Bound'
    ? undefined
    : `the PVC ${claim.metadata.name} is not yet bound to a PV, will not attempt to take a snapshot`;
}

/** Says the error in the status; with `readyToUse: false` in `also` the snapshot is no longer, or not yet, to be used. */
function failing(
  snapshot: VolumeSnapshot,
  reason: string,
  message: string,
  nowMs: number,
  also: VolumeSnapshotStatus,
): SnapshotStep {
  const error = { message, time: timestamp(nowMs) };
  const isNew = snapshot.status?.error?.message !== message;
  const status = statusOf(VolumeSnapshot, snapshot, { ...also, error });
  return { writes: isNew ? [status, says(snapshot, 'Warning', reason, message)] : [status], failure: message };
}

function lost({ snapshot, nowMs }: ObservedSnapshot): SnapshotStep {
  const { writes } = failing(snapshot, 'SnapshotContentMissing', lostMessage, nowMs, { readyToUse: false });
  return { writes };
}

function creation(observed: ObservedSnapshot): SnapshotStep {
  const { snapshot, claim, snapshotClass, nowMs } = observed;
  const { name } = snapshot.metadata;
  const refused = (cause: string) => {
    const message = `Failed to create snapshot content with error ${cause}`;
    return failing(snapshot, 'SnapshotContentCreationFailed', message, nowMs, { readyToUse: false });
  };
  const failsToUpdate = `snapshot controller failed to update ${name} on API server`;
  if (!claim || !snapshotClass) return refused(`${failsToUpdate}: cannot get claim from snapshot`);
  if (!claim.metadata.finalizers?.includes(finalizer.claim)) {
    const isGoing = claim.metadata.deletionTimestamp !== undefined;
    if (isGoing) return refused(`${failsToUpdate}: cannot add finalizer on claim because it is being deleted`);
    return { writes: [withFinalizer(Claim, claim, finalizer.claim)] };
  }
  const why = unbound(claim);
  if (why) return refused(`failed to get input parameters to create snapshot ${name}: "${why}"`);
  const waiting = `Waiting for a snapshot ${keyOf(snapshot)} to be created by the CSI driver.`;
  return {
    writes: [
      { do: 'create', resource: VolumeSnapshotContent, object: contentFor(snapshot, snapshotClass, claim) },
      says(snapshot, 'Normal', 'CreatingSnapshot', waiting),
    ],
  };
}

function contentFor(snapshot: VolumeSnapshot, snapshotClass: VolumeSnapshotClass, claim: Claim) {
  const { namespace, name, uid, resourceVersion } = snapshot.metadata;
  return {
    apiVersion: VolumeSnapshotContent.apiVersion,
    kind: VolumeSnapshotContent.kind,
    metadata: { name: contentName(snapshot), finalizers: [finalizer.content] },
    spec: {
      deletionPolicy: snapshotClass.deletionPolicy,
      driver: snapshotClass.driver,
      source: { volumeHandle: volumeHandleOf(claim.spec.volumeName ?? '') },
      sourceVolumeMode: claim.spec.volumeMode ?? 'Filesystem',
      volumeSnapshotClassName: snapshotClass.metadata.name,
      volumeSnapshotRef: {
        apiVersion: snapshot.apiVersion,
        kind: snapshot.kind,
        namespace,
        name,
        uid,
        resourceVersion,
      },
    },
  };
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
    ...(creationTime === undefined ? {} : { creationTime: timestamp(creationTime / 1e6) }),
    ...(restoreSize === undefined ? {} : { restoreSize: quantityOf(restoreSize) }),
    ...(error ? { error } : {}),
  };
  const changed = JSON.stringify(shown(before)) !== JSON.stringify(shown(next));
  if (!changed) return readyToUse && !isClaimNeeded ? { writes: releaseOf(claim) } : done;
  const isCut = before.creationTime === undefined && next.creationTime !== undefined;
  const isReady = !before.readyToUse && readyToUse;
  const created = `Snapshot ${keyOf(snapshot)} was successfully created by the CSI driver.`;
  const ready = `Snapshot ${keyOf(snapshot)} is ready to use.`;
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

function deletion({ snapshot, content, isBeingRestored }: ObservedSnapshot): SnapshotStep {
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
