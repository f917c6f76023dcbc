import { referenceOf } from '../../../shared/resources/resource.ts';
import { annotation } from './annotation.ts';
import { bindsAtOnce } from './claims.ts';
import { snapshotOf, volumeCloneSourceName } from './clone-source.ts';
import { nextForClone, type ObservedClone } from './clone-step.ts';
import type { CdiContext } from './context.ts';
import { isForeign } from './data-volume-step.ts';
import { importNameOf } from './import-name.ts';
import type { DataVolume } from './kinds.ts';
import { performWithinQuota, refreshClass, refuseForeign } from './own-claim.ts';
import { classFor, renderClaimSpec, waitsForConsumer } from './storage-profile.ts';
import type { Again } from './work-queue.ts';

/**
 * Brings a DataVolume that is cloned from a snapshot one write further. Always by way of the populator: clones on classes of
 * in-tree drivers are not played.
 */
export async function reconcileClone(context: CdiContext, dataVolume: DataVolume): Promise<Again> {
  const downMs = context.downForMs(dataVolume.metadata.namespace, importNameOf(dataVolume));
  if (downMs > 0) return { lookAgainMs: downMs };
  if (!context.claims.find(referenceOf(dataVolume))) await refreshClass(context, dataVolume);
  const observed = observe(context, dataVolume);
  if (!dataVolume.metadata.deletionTimestamp && isForeign(observed)) await refuseForeign(context, observed);
  const writes = nextForClone(observed);
  await performWithinQuota(context, observed, writes);
  return writes.length > 0 ? { holdMs: context.timings.tickMs } : undefined;
}

function observe(context: CdiContext, dataVolume: DataVolume): ObservedClone {
  const { clock, claims, cloneSources, snapshots, storageClasses, profiles } = context;
  const { namespace, name } = dataVolume.metadata;
  const source = snapshotOf(dataVolume);
  const claim = claims.find({ namespace, name });
  const classes = [...storageClasses.objects.values()];
  const storageClass = classFor(
    (claim?.spec ?? dataVolume.spec.pvc ?? dataVolume.spec.storage)?.storageClassName,
    classes,
  );
  const held = claim && !bindsAtOnce(claim) && claim.metadata.annotations?.[annotation.selectedNode] === undefined;
  return {
    dataVolume,
    snapshot: snapshots.find(source),
    claim,
    cloneSource: cloneSources.find({ namespace: source.namespace, name: volumeCloneSourceName(dataVolume) }),
    rendered: renderClaimSpec(dataVolume, classes, profiles),
    waitsForConsumer: Boolean(held) && waitsForConsumer(storageClass),
    nowMs: clock.now(),
  };
}
