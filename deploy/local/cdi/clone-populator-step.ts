import { Claim, Pod, type VolumeCloneSource } from '../controller/kinds.ts';
import { bytesOf } from '../controller/quantity.ts';
import { eventsFrom, patchOf, removalOf, type Write, withFinalizer, withoutFinalizer } from '../controller/write.ts';
import type { VolumeSnapshot } from '../snapshots/kinds.ts';
import { annotation, annotationsPatch } from './annotation.ts';
import { keep } from './claims.ts';
import { copiedName, temporaryClaimFor } from './clone-claims.ts';
import { prepPodFor, uploadPodFor } from './clone-pods.ts';
import { mirrorPod } from './pod-mirror.ts';
import { rebound } from './volume.ts';

const noted = eventsFrom('clone-populator');

/** How a clone is made: by the driver, or by copying where the driver cannot, and why. */
export type CloneStrategy = { type: 'snapshot' } | { type: 'copy'; because: string };

export interface ObservedCloneTarget {
  clusterBinds: boolean;
  target: Claim;
  /** The claim whose volume the target gets. */
  temporary: Claim | undefined;
  /** The claim that a copy reads. */
  copied: Claim | undefined;
  /** The Pod that binds, resizes or fills the temporary claim. */
  pod: Pod | undefined;
  cloneSource: VolumeCloneSource | undefined;
  snapshot: VolumeSnapshot | undefined;
  /** The class binds when a consumer comes, and none has. */
  waitsForConsumer: boolean;
  /** The class binds when a consumer comes. */
  isLate: boolean;
  strategy: CloneStrategy;
  /** What cloning has just met. */
  error: string | undefined;
}

/** Holds a claim until what was made for its population is gone. */
const cloneFinalizer = 'cdi.kubevirt.io/clonePopulator';

export const isClone = ({ spec }: Claim) =>
  spec.dataSourceRef?.apiGroup === 'cdi.kubevirt.io' && spec.dataSourceRef.kind === 'VolumeCloneSource';

const toldOn = ({ metadata }: Claim) => metadata.annotations?.[annotation.clonePhase];

/**
 * The next writes about a claim that a clone populates (CDI pkg/controller/populators/clone-populator.go, pkg/controller/clone):
 * strategy, temporary claim, the Pod that prepares or fills it, its volume handed over, all of it gone.
 */
export function nextForCloneTarget(observed: ObservedCloneTarget): Write[] {
  const { target, error } = observed;
  if (target.metadata.deletionTimestamp || toldOn(target) === 'Succeeded') return finish(observed);
  if (error !== undefined) return say(target, 'Error', { [annotation.cloneError]: error }, error);
  // It plans again at every step, and looks for the source each time (pkg/controller/clone/planner.go).
  if (!observed.snapshot && isChosen(target)) return say(target, 'Error', {}, 'source claim does not exist');
  if (target.spec.volumeName && target.status?.phase === 'Bound')
    return say(target, 'Succeeded', { [annotation.populatorProgress]: '100.0%' });
  return prepare(observed) ?? restore(observed);
}

/** What comes before the first byte; undefined once the way is chosen. */
function prepare({ target, cloneSource, snapshot, waitsForConsumer, strategy }: ObservedCloneTarget) {
  const { finalizers = [] } = target.metadata;
  if (toldOn(target) === undefined || waitsForConsumer || !cloneSource || !snapshot) return say(target, 'Pending');
  if (!isChosen(target)) return choose(target, strategy);
  return finalizers.includes(cloneFinalizer) ? undefined : [withFinalizer(Claim, target, cloneFinalizer)];
}

const isChosen = ({ metadata }: Claim) => metadata.annotations?.[annotation.cloneType] !== undefined;

function choose(target: Claim, strategy: CloneStrategy): Write[] {
  const annotations = {
    [annotation.cloneType]: strategy.type,
    ...(strategy.type === 'copy' ? { [annotation.cloneFallbackReason]: strategy.because } : {}),
  };
  const { type } = strategy;
  const warnings: Write[] = type === 'copy' ? [noted(target, 'Warning', 'NoVolumeExpansion', strategy.because)] : [];
  return [patchOf(Claim, target, { metadata: { annotations } }), ...warnings];
}

function restore(observed: ObservedCloneTarget): Write[] {
  const { target, temporary, clusterBinds } = observed;
  const isCopy = target.metadata.annotations?.[annotation.cloneType] === 'copy';
  if (!temporary) return createClaims(observed, isCopy);
  const rest = isCopy ? copy(observed, temporary) : underWay(observed, temporary);
  return rest ?? (rebinding(target, isCopy) || rebound(target, temporary, clusterBinds));
}

/** A copy needs two claims: the snapshot is restored into the first and copied to the second. */
function createClaims(observed: ObservedCloneTarget, isCopy: boolean): Write[] {
  const { target, copied, snapshot, cloneSource, isLate } = observed;
  const waiting = say(target, 'SnapshotClone');
  if (!snapshot?.status?.readyToUse) return waiting;
  // A claim that waits for its consumer is not waited for: the next step is its Pod.
  if (waiting.length > 0 && (isCopy || !isLate)) return waiting;
  if (copied && copied.status?.phase !== 'Bound') return [];
  const source = { namespace: cloneSource?.metadata.namespace ?? '', name: snapshot.metadata.name };
  const { restoreSize = '0' } = snapshot.status;
  const claim = copied
    ? temporaryClaimFor(target, source)
    : temporaryClaimFor(target, source, restoreSize, isCopy ? copiedName(target) : undefined);
  return [{ do: 'create', resource: Claim, object: claim }];
}

/** What must still happen to the temporary claim; undefined when its volume can be handed over. */
function underWay({ target, isLate, pod }: ObservedCloneTarget, temporary: Claim): Write[] | undefined {
  // A cluster's own controller may call it Lost before it has bound the target.
  if (toldOn(target) === 'Rebind') return undefined;
  const isBound = temporary.status?.phase === 'Bound';
  const resized = isBound ? resize(target, temporary) : [];
  if (pod) return resized.length > 0 || pod.status?.phase !== 'Succeeded' ? resized : removalOf(Pod, pod);
  if (isBound && resized.length === 0) return undefined;
  // A class that waits for its consumer has to be made to bind.
  if (!isBound && !isLate) return say(target, 'SnapshotClone');
  const prep: Write = { do: 'create', resource: Pod, object: prepPodFor(target, temporary) };
  return [...say(target, 'PrepClaim'), ...resized, prep];
}

function resize({ spec }: Claim, temporary: Claim): Write[] {
  const storage = spec.resources?.requests?.storage ?? '0';
  if (bytesOf(temporary.spec.resources?.requests?.storage ?? '0') >= bytesOf(storage)) return [];
  return [patchOf(Claim, temporary, { spec: { resources: { requests: { storage } } } })];
}

/** What must still happen to a copy; undefined when it is complete. */
function copy({ target, pod }: ObservedCloneTarget, temporary: Claim): Write[] | undefined {
  const isCopied = target.metadata.annotations?.[annotation.populatorProgress] === copiedWhole;
  if (!pod && isCopied) return undefined;
  const writes = say(target, 'HostClone', pod && runningOf(pod));
  if (writes.length > 0) return writes;
  if (!pod) return [{ do: 'create', resource: Pod, object: uploadPodFor(temporary) }];
  if (pod.status?.phase !== 'Succeeded') return [];
  if (isCopied) return removalOf(Pod, pod);
  return [
    patchOf(Claim, target, { metadata: { annotations: { [annotation.populatorProgress]: copiedWhole } } }),
    eventsFrom('clone-controller')(temporary, 'Normal', 'CloneSucceeded', 'Clone Complete'),
  ];
}

const copiedWhole = '100.0%';

const runningOf = (pod: Pod) =>
  keep(mirrorPod({}, pod).annotations, [annotation.running, annotation.runningReason, annotation.runningMessage]);

function rebinding(target: Claim, isCopy: boolean): Write[] | undefined {
  const writes = say(target, 'Rebind', isCopy ? completed : {});
  return writes.length > 0 ? writes : undefined;
}

/** Whether the next writes hand the volume over, which takes the real one a moment. */
export const isRebinding = (target: Claim, writes: readonly Write[]) =>
  toldOn(target) === 'Rebind' && writes.some((write) => write.do === 'patch' && write.resource !== Claim);

function finish({ target, temporary, copied, pod }: ObservedCloneTarget): Write[] {
  const claims = [temporary, copied].filter((claim) => claim !== undefined);
  if (pod || claims.length > 0)
    return [...(pod ? removalOf(Pod, pod) : []), ...claims.flatMap((claim) => removalOf(Claim, claim))];
  return target.metadata.finalizers?.includes(cloneFinalizer) ? [withoutFinalizer(Claim, target, cloneFinalizer)] : [];
}

const running = (status: string, reason: string, message: string) => ({
  [annotation.running]: status,
  [annotation.runningReason]: reason,
  [annotation.runningMessage]: message,
});

const completed = running('false', 'Completed', 'Clone Complete');

/** The phase on the claim, with what the DataVolume's condition Running is made of, unless `also` has it. */
function say(target: Claim, phase: string, also: Record<string, string> = {}, error = ''): Write[] {
  const patch = annotationsPatch(target.metadata.annotations, {
    [annotation.cloneError]: undefined,
    [annotation.clonePhase]: phase,
    ...(runningIn(error)[phase] ?? running('true', 'Populator is running', '')),
    ...also,
  });
  return patch ? [patchOf(Claim, target, patch)] : [];
}

const runningIn = (error: string): Record<string, Record<string, string>> => ({
  Succeeded: completed,
  Pending: running('false', 'Pending', 'Clone Pending'),
  Error: running('false', 'Error', error),
});
