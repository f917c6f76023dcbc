import type { VolumeSnapshot } from '../snapshots/kinds.ts';
import { annotation, annotationsPatch } from './annotation.ts';
import { temporaryClaimFor } from './clone-claims.ts';
import { Claim, type VolumeCloneSource } from './kinds.ts';
import { bytesOf } from './quantity.ts';
import { rebound } from './volume.ts';
import { deletionOf, patchOf, type Write, withFinalizer, withoutFinalizer } from './write.ts';

/** How a clone is made: by the driver, or by copying where the driver cannot, and why. */
export type CloneStrategy = { type: 'snapshot' } | { type: 'copy'; because: string };

export interface ObservedCloneTarget {
  clusterBinds: boolean;
  target: Claim;
  /** The claim that the driver restores into. */
  temporary: Claim | undefined;
  cloneSource: VolumeCloneSource | undefined;
  snapshot: VolumeSnapshot | undefined;
  /** The class binds when a consumer comes, and none has. */
  waitsForConsumer: boolean;
  /** The class binds when a consumer comes. */
  isLate: boolean;
  strategy: CloneStrategy;
  /** Percentage of a copy from volume to volume. */
  copied: number;
  /** What cloning has just met. */
  error: string | undefined;
}

/** Holds a claim until what was made for its population is gone. */
export const cloneFinalizer = 'cdi.kubevirt.io/clonePopulator';

export const isClone = ({ spec }: Claim) =>
  spec.dataSourceRef?.apiGroup === 'cdi.kubevirt.io' && spec.dataSourceRef.kind === 'VolumeCloneSource';

const toldOn = ({ metadata }: Claim) => metadata.annotations?.[annotation.clonePhase];

/**
 * The next writes about a claim that a clone populates (CDI pkg/controller/populators/clone-populator.go, pkg/controller/clone):
 * strategy, temporary claim, its size, its volume handed over, all of it gone. There is no prep Pod: the driver here neither
 * needs one to bind a claim nor to resize its volume.
 */
export function nextForCloneTarget(observed: ObservedCloneTarget): Write[] {
  const { target, error } = observed;
  if (target.metadata.deletionTimestamp || toldOn(target) === 'Succeeded') return finish(observed);
  if (error !== undefined) return say(target, 'Error', { [annotation.cloneError]: error }, error);
  // It plans anew at every step, and looks for the source each time (pkg/controller/clone/planner.go).
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
  return [patchOf(Claim, target, { metadata: { annotations } })];
}

function restore(observed: ObservedCloneTarget): Write[] {
  const { target, temporary, snapshot, cloneSource, clusterBinds } = observed;
  const isCopy = target.metadata.annotations?.[annotation.cloneType] === 'copy';
  if (!temporary) {
    const waiting = say(target, isCopy ? 'HostClone' : 'SnapshotClone');
    if (waiting.length > 0 || !snapshot?.status?.readyToUse) return waiting;
    const source = { namespace: cloneSource?.metadata.namespace ?? '', name: snapshot.metadata.name };
    const claim = temporaryClaimFor(target, source, isCopy ? undefined : (snapshot.status.restoreSize ?? '0'));
    return [{ do: 'create', resource: Claim, object: claim }];
  }
  return underWay(observed, temporary, isCopy) ?? (rebinding(target) || rebound(target, temporary, clusterBinds));
}

/** What must still happen to the temporary claim; undefined when its volume can be handed over. */
function underWay({ target, isLate, copied }: ObservedCloneTarget, temporary: Claim, isCopy: boolean) {
  // A cluster's own controller may call it Lost before it has bound the target.
  if (toldOn(target) === 'Rebind') return undefined;
  const progress = { [annotation.populatorProgress]: `${copied.toFixed(2)}%` };
  if (isCopy && copied < 100) return say(target, 'HostClone', progress);
  // A class that waits for its consumer has to be made to bind.
  if (temporary.status?.phase !== 'Bound') return say(target, isLate && !isCopy ? 'PrepClaim' : 'SnapshotClone');
  const wanted = target.spec.resources?.requests?.storage ?? '0';
  if (bytesOf(temporary.spec.resources?.requests?.storage ?? '0') < bytesOf(wanted))
    return [
      ...say(target, 'PrepClaim'),
      patchOf(Claim, temporary, { spec: { resources: { requests: { storage: wanted } } } }),
    ];
  return bytesOf(temporary.status.capacity?.storage ?? '0') < bytesOf(wanted) ? say(target, 'PrepClaim') : undefined;
}

function rebinding(target: Claim): Write[] | undefined {
  const writes = say(target, 'Rebind');
  return writes.length > 0 ? writes : undefined;
}

/** Whether the next writes hand the volume over, which takes the real one a moment. */
export const isRebinding = (target: Claim, writes: readonly Write[]) =>
  toldOn(target) === 'Rebind' && writes.some((write) => write.do === 'patch' && write.resource !== Claim);

function finish({ target, temporary }: ObservedCloneTarget): Write[] {
  if (temporary) return temporary.metadata.deletionTimestamp ? [] : [deletionOf(Claim, temporary)];
  return target.metadata.finalizers?.includes(cloneFinalizer) ? [withoutFinalizer(Claim, target, cloneFinalizer)] : [];
}

/** The phase on the claim, with what the DataVolume's condition Running is made of. */
function say(target: Claim, phase: string, also: Record<string, string> = {}, error?: string): Write[] {
  const running: [status: string, reason: string, message: string] =
    phase === 'Succeeded'
      ? ['false', 'Completed', 'Clone Complete']
      : phase === 'Pending'
        ? ['false', 'Pending', 'Clone Pending']
        : phase === 'Error'
          ? ['false', 'Error', error ?? '']
          : ['true', 'Populator is running', ''];
  const patch = annotationsPatch(target.metadata.annotations, {
    [annotation.cloneError]: undefined,
    ...also,
    [annotation.clonePhase]: phase,
    [annotation.running]: running[0],
    [annotation.runningReason]: running[1],
    [annotation.runningMessage]: running[2],
  });
  return patch ? [patchOf(Claim, target, patch)] : [];
}
