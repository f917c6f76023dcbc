import { imageReferenceFinalizer } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, revisionLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Invariant, State } from './follow.ts';
import type { Policy } from './plain-policy.ts';
import { conditionOf, hasEnded, isAdopting } from './plain-rules.ts';
import { isFunction } from './writers.ts';

/**
 * L1, every image comes to rest: at the end each is Succeeded or Failed; and two sweeps and an audit after the last of them came
 * to that, or something was deleted, or anybody but a function did anything, no function writes any more, but for what one clock
 * has put into the future of another. A machine that is deleted goes. Failed is no end if
 * its cause no longer exists. Exempt is what rightly waits: for a slot where the policy
 * gives none, for a snapshot to adopt, for its back-off, for what keeps an attempt from starting, for whoever holds a deleted
 * image (reliability §2; DESIGN §5).
 */
export const l1Rest: Invariant = {
  number: 'L1',
  says: 'once all is still every image comes to its end, and nobody writes any more',
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
          return `${by} still writes ${object.kind} ${object.metadata.name} ${atMs - movedMs} ms after the last move`;
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
          .map(({ metadata, status }) => `${metadata.name} ends Failed, and what it says is gone: ${status?.message}`);
        const machines = [...state.machines.values()]
          .filter(({ metadata: { deletionTimestamp, finalizers } }) => deletionTimestamp && isOursAlone(finalizers))
          .map(({ metadata }) => `machine ${metadata.name} is deleted and never goes`);
        return [...images, ...failed, ...machines];
      },
    };
  },
};

/** The reasons that a copy of the revision ends, and those that a class ends. */
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

/** Nothing starts anew while a key of the policy cannot be read, and nobody while there is no slot at all. */
const givesSlots = ({ values, faults }: Policy) => values.concurrency > 0 && faults.length === 0;

/** An attempt that never started is not counted, so that it is tried again for as long as what is in its way. */
const isKeptFromStarting = ({ status }: VMDiskImage) =>
  (status?.attempt ?? 0) > (status?.attempts ?? 0) || conditionOf(status?.conditions, 'Ready')?.reason === 'NotStarted';
