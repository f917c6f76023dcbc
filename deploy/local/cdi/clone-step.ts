import { Claim, type ClaimSpec, DataVolume, type DataVolumeStatus, VolumeCloneSource } from '../controller/kinds.ts';
import {
  deletionOf,
  type EventText,
  patchOf,
  type Write,
  withFinalizer,
  withoutFinalizer,
} from '../controller/write.ts';
import type { VolumeSnapshot } from '../snapshots/kinds.ts';
import { annotation } from './annotation.ts';
import { ownClaim, populatedBy } from './claims.ts';
import {
  crossNamespaceFinalizer,
  isCrossNamespace,
  snapshotOf,
  volumeCloneSourceFor,
  volumeCloneSourceName,
} from './clone-source.ts';
import { clonePhase, scheduled } from './clone-status.ts';
import { cloneProblem, requestOf } from './clone-validation.ts';
import { eventsOf, hinderedStatus, nextStatus, saysMore } from './data-volume-status.ts';
import { hindered, withEvents } from './data-volume-step.ts';
import type { Rendered } from './storage-profile.ts';

export interface ObservedClone {
  dataVolume: DataVolume;
  snapshot: VolumeSnapshot | undefined;
  claim: Claim | undefined;
  cloneSource: VolumeCloneSource | undefined;
  /** The spec its claim gets, or why there can be none. */
  rendered: Rendered;
  waitsForConsumer: boolean;
  nowMs: number;
}

const component = 'datavolume-snapshot-clone-controller';

/** The next write about a DataVolume that is cloned from a snapshot: checks, finalizer, claim, clone source, status after status. */
export function nextForClone(observed: ObservedClone): Write[] {
  const { dataVolume, claim, cloneSource } = observed;
  if (dataVolume.metadata.deletionTimestamp || isDone(observed)) return [...cleanup(observed), ...status(observed)];
  if (dataVolume.metadata.annotations?.[annotation.usePopulator] === undefined)
    return [patchOf(DataVolume, dataVolume, { metadata: { annotations: { [annotation.usePopulator]: 'true' } } })];
  if (!claim) return firstSteps(observed);
  if (!cloneSource) return [{ do: 'create', resource: VolumeCloneSource, object: volumeCloneSourceFor(dataVolume) }];
  return status(observed);
}

const isDone = ({ dataVolume, claim }: ObservedClone) =>
  dataVolume.status?.phase === 'Succeeded' && claim?.metadata.annotations?.[annotation.clonePhase] === 'Succeeded';

/** The steps before the claim. The checks run again at each reconcile, and their result is never a phase. */
function firstSteps(observed: ObservedClone): Write[] {
  const { dataVolume, rendered, snapshot, nowMs } = observed;
  if ('refused' in rendered) return hindered(observed, '', 'ErrClaimNotValid', rendered.refused, rendered.event);
  const before = dataVolume.status ?? { phase: '', conditions: [] };
  const problem = cloneProblem(dataVolume, snapshot, rendered.spec);
  if (problem)
    return statusWrites(
      dataVolume,
      hinderedStatus(dataVolume, before.phase, problem.reason, problem.message, nowMs),
      undefined,
    );
  if (isCrossNamespace(dataVolume) && !dataVolume.metadata.finalizers?.includes(crossNamespaceFinalizer)) {
    const { phase, event } = scheduled(dataVolume);
    // While no claim exists, CDI shows the phase in Bound and Ready, too.
    const next = hinderedStatus(dataVolume, phase, event?.reason ?? '', event?.message ?? '', nowMs);
    return [withFinalizer(DataVolume, dataVolume, crossNamespaceFinalizer), ...statusWrites(dataVolume, next, event)];
  }
  const spec = populatedBy(
    requestOf(dataVolume.spec) === undefined ? sized(rendered.spec, snapshot) : rendered.spec,
    VolumeCloneSource.kind,
    volumeCloneSourceName(dataVolume),
  );
  const from: Record<string, string> = isCrossNamespace(dataVolume)
    ? { [annotation.dataSourceNamespace]: snapshotOf(dataVolume).namespace }
    : {};
  return [{ do: 'create', resource: Claim, object: ownClaim(dataVolume, spec, from) }];
}

/** A claim of a DataVolume that names no size gets its snapshot's. */
const sized = (spec: ClaimSpec, snapshot: VolumeSnapshot | undefined): ClaimSpec => ({
  ...spec,
  resources: {
    ...spec.resources,
    requests: { ...spec.resources?.requests, storage: snapshot?.status?.restoreSize ?? '0' },
  },
});

function cleanup({ dataVolume, cloneSource }: ObservedClone): Write[] {
  const held = dataVolume.metadata.finalizers?.includes(crossNamespaceFinalizer);
  return [
    ...(cloneSource ? [deletionOf(VolumeCloneSource, cloneSource)] : []),
    ...(held ? [withoutFinalizer(DataVolume, dataVolume, crossNamespaceFinalizer)] : []),
  ];
}

function status(observed: ObservedClone): Write[] {
  const { dataVolume } = observed;
  if (dataVolume.metadata.deletionTimestamp) return [];
  const { status: next, phaseEvent } = nextStatus({ ...observed, prime: undefined, usePopulator: true }, clonePhase);
  return statusWrites(dataVolume, next, phaseEvent);
}

function statusWrites(dataVolume: DataVolume, next: DataVolumeStatus, phaseEvent: EventText | undefined): Write[] {
  if (!saysMore(dataVolume.status, next)) return [];
  return withEvents(dataVolume, next, eventsOf(dataVolume.status, next, phaseEvent, true), component);
}
