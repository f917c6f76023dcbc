import { imageReferenceFinalizer } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, revisionLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Invariant, State } from './follow.ts';
import type { Policy } from './plain-policy.ts';
import { conditionOf, hasEnded, isAdopting } from './plain-rules.ts';
import { isFunction } from './writers.ts';

/**
 * L1, rest: at the end every image is Succeeded or Failed, no deleted machine remains, and no image is Failed for a cause that no longer
 * exists. No function writes later than two sweeps and an audit (plus the clock skew) after the last phase change, deletion, or change by
 * anything but a function. Exempt are images that wait for a slot while the policy gives none, for a snapshot to adopt, for their back-off,
 * for the cause that keeps an attempt from starting, or, being deleted, for the machines that use them.
 */
export const l1Rest: Invariant = {
  number: 'L1',
  rule: 'once the faults end, every image comes to rest and the functions stop writing',
  judge: (state, { stillFromMs, endMs, sweepMs = 30_000, auditMs = 600_000, skewMs = 0 }) => {
    let movedMs = stillFromMs ?? Number.POSITIVE_INFINITY;
    const restless = new Set<string>();
    return {
      every: ({ change, object, before, isGone }) => {
        if (stillFromMs === undefined || change.atMs < stillFromMs) return undefined;
        const { by, atMs } = change;
        const isDeleting = isGone || isDeleted(object) !== isDeleted(before);
        const isStep = by === undefined || !isFunction(by) || isDeleting || phaseOf(before) !== phaseOf(object);
        if (isStep) movedMs = Math.max(movedMs, atMs);
        else if (atMs > movedMs + 2 * sweepMs + auditMs + skewMs && !restless.has(`${by} ${object.metadata.uid}`)) {
          restless.add(`${by} ${object.metadata.uid}`);
          return `${by} still writes ${object.kind} ${object.metadata.name} ${atMs - movedMs} ms after the last event`;
        }
        return undefined;
      },
      end: () => {
        if (stillFromMs === undefined) return [];
        const images = [...state.images.values()]
          .filter((image) => !isAtRest(image, state) && !waitsBeyond(image, endMs - sweepMs))
          .map(({ metadata, status }) => `${metadata.name} ends ${status?.phase ?? 'unseen'}`);
        const failed = [...state.images.values()]
          .filter((image) => hasNoCauseAnyMore(image, state))
          .map(
            ({ metadata, status }) =>
              `${metadata.name} ends Failed, but its cause no longer exists: ${status?.message}`,
          );
        const machines = [...state.machines.values()]
          .filter(({ metadata: { deletionTimestamp, finalizers } }) => deletionTimestamp && isOursAlone(finalizers))
          .map(({ metadata }) => `machine ${metadata.name} is being deleted and remains`);
        return [...images, ...failed, ...machines];
      },
    };
  },
};

/** The reasons that a snapshot of the revision resolves, and those that a class resolves. */
const ofSnapshot = ['SnapshotTimeout', 'Rejected', 'SnapshotFailed', 'VolumeLost'];
const ofClass: Readonly<Record<string, 'StorageClass' | 'VolumeSnapshotClass'>> = {
  StorageClassMissing: 'StorageClass',
  SnapshotClassMissing: 'VolumeSnapshotClass',
};

/** The image is Failed because of a missing snapshot or class that exists by now. */
function hasNoCauseAnyMore({ metadata, spec, status }: VMDiskImage, { snapshots, others, policies }: State): boolean {
  if (status?.phase !== 'Failed' || metadata.deletionTimestamp || !givesSlots(policies.now)) return false;
  const { reason = '' } = conditionOf(status.conditions, 'Ready') ?? {};
  const kind = ofClass[reason];
  const wanted = kind === 'StorageClass' ? spec.storageClass : spec.snapshotClass;
  if (kind) return [...others.values()].some((one) => one.kind === kind && one.metadata.name === wanted);
  return (
    ofSnapshot.includes(reason) &&
    [...snapshots.values()].some(
      (one) =>
        one.metadata.labels?.[imageUidLabel] === metadata.uid &&
        one.metadata.labels[revisionLabel] === String(status.revision) &&
        one.metadata.deletionTimestamp === undefined &&
        one.status?.readyToUse === true,
    )
  );
}

const isOursAlone = (finalizers: readonly string[] | undefined) =>
  finalizers?.every((finalizer) => finalizer === imageReferenceFinalizer) ?? false;

const isDeleted = (object: KubernetesObject | undefined) => object?.metadata.deletionTimestamp !== undefined;
const phaseOf = (object: unknown) => (object as { status?: { phase?: string } } | undefined)?.status?.phase;

function isAtRest(image: VMDiskImage, { policies }: State): boolean {
  const { conditions } = image.status ?? {};
  if (hasEnded(image.status) || isAdopting(image)) return true;
  if (image.metadata.deletionTimestamp) return conditionOf(conditions, 'DeletionHeld')?.status === 'True';
  if (!givesSlots(policies.now)) return true;
  return isKeptFromStarting(image);
}

/** Its back-off is not over. */
const waitsBeyond = ({ status }: VMDiskImage, ms: number) =>
  status?.phase === 'Retrying' && Date.parse(status.nextAttemptAt ?? '') > ms;

/** No sync starts while a policy key does not parse or the concurrency is 0. */
const givesSlots = ({ values, faults }: Policy) => values.concurrency > 0 && faults.length === 0;

/** An attempt that never started does not count, so it is retried until its obstacle is gone. */
const isKeptFromStarting = ({ status }: VMDiskImage) =>
  (status?.attempt ?? 0) > (status?.attempts ?? 0) || conditionOf(status?.conditions, 'Ready')?.reason === 'NotStarted';
