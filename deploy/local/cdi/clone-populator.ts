import type { Claim, StorageClass } from '../controller/kinds.ts';
import { bytesOf } from '../controller/quantity.ts';
import type { Again } from '../controller/work-queue.ts';
import type { VolumeSnapshot } from '../snapshots/kinds.ts';
import { annotation } from './annotation.ts';
import { bindsAtOnce } from './claims.ts';
import { copiedName, temporaryName } from './clone-claims.ts';
import { prepPodFor, uploadPodFor } from './clone-pods.ts';
import {
  type CloneStrategy,
  isRebinding,
  nextForCloneTarget,
  type ObservedCloneTarget,
} from './clone-populator-step.ts';
import type { CdiContext } from './context.ts';
import { classFor, waitsForConsumer } from './storage-profile.ts';

/** Brings the population of one claim from a snapshot one write further. */
export async function reconcileCloneTarget(context: CdiContext, target: Claim): Promise<Again> {
  const { timings, handOvers } = context;
  const { uid, namespace, deletionTimestamp } = target.metadata;
  const downMs = deletionTimestamp ? 0 : context.downForMs(namespace, context.importNameOf(target));
  if (downMs > 0) return { requeueAfterMs: downMs };
  const failure = deletionTimestamp ? undefined : failureOf(context, target);
  const observed = observe(context, target, failure?.message);
  const writes = nextForCloneTarget(observed);
  if (isRebinding(target, writes) && !handOvers.has(uid)) {
    handOvers.add(uid);
    return { holdMs: timings.rebindMs };
  }
  handOvers.delete(uid);
  await context.perform(writes);
  if (writes.length > 0) return { holdMs: timings.tickMs };
  return failure && { requeueAfterMs: failure.leftMs };
}

function observe(context: CdiContext, target: Claim, error: string | undefined): ObservedCloneTarget {
  const { claims, cloneSources, snapshots, storageClasses, variants } = context;
  const { annotations = {}, namespace } = target.metadata;
  const from = annotations[annotation.dataSourceNamespace] ?? namespace;
  const cloneSource = cloneSources.find({ namespace: from, name: target.spec.dataSourceRef?.name ?? '' });
  const snapshot = cloneSource && snapshots.find({ namespace: from, name: cloneSource.spec.source.name });
  const storageClass = classFor(target.spec.storageClassName, storageClasses.objects.values());
  const temporary = claims.find({ namespace: from, name: temporaryName(target) });
  const isLate = waitsForConsumer(storageClass);
  return {
    clusterBinds: variants.clusterBinds ?? false,
    target,
    temporary,
    cloneSource,
    snapshot,
    isLate,
    waitsForConsumer: isLate && !bindsAtOnce(target) && annotations[annotation.selectedNode] === undefined,
    strategy: strategyFor(target, snapshot, storageClass),
    copied: claims.find({ namespace: from, name: copiedName(target) }),
    pod: temporary && podOf(context, target, temporary),
    error,
  };
}

/** Only a bigger disk on a class that cannot grow is copied here: there is one driver, and one volume mode. */
function strategyFor(
  { spec }: Claim,
  snapshot: VolumeSnapshot | undefined,
  storageClass: StorageClass | undefined,
): CloneStrategy {
  const isBigger = bytesOf(spec.resources?.requests?.storage ?? '0') > bytesOf(snapshot?.status?.restoreSize ?? '0');
  if (!isBigger || storageClass?.allowVolumeExpansion) return { type: 'snapshot' };
  return { type: 'copy', because: 'No volume expansion is possible' };
}

const podOf = ({ pods }: CdiContext, target: Claim, temporary: Claim) =>
  pods.find(prepPodFor(target, temporary).metadata) ?? pods.find(uploadPodFor(temporary).metadata);

/** The injected error of a clone, and its remaining time. */
function failureOf({ faults, times, importNameOf }: CdiContext, target: Claim) {
  const { uid, annotations } = target.metadata;
  const name = importNameOf(target);
  // An error that was not visible before the clone started would not be an error of the clone.
  if (!name || annotations?.[annotation.cloneType] === undefined) return undefined;
  const rule = faults.inject(uid, name, 'cloneError');
  if (!rule) return undefined;
  const leftMs = rule.forMs - times.msIn(`${uid} cloneError`);
  const message = rule.message ?? 'rpc error: code = Internal desc = Could not create volume from snapshot';
  return leftMs > 0 ? { leftMs, message } : undefined;
}
