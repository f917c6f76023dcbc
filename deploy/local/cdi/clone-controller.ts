import { referenceOf } from '../../../shared/kinds/resource.ts';
import type { DataVolume } from '../controller/kinds.ts';
import type { Again } from '../controller/work-queue.ts';
import { snapshotOf, volumeCloneSourceName } from './clone-source.ts';
import { nextForClone, type ObservedClone } from './clone-step.ts';
import type { CdiContext } from './context.ts';
import { isForeign } from './data-volume-step.ts';
import { importNameOf } from './import-name.ts';
import { claimOf, performWithinQuota, refreshClass, refuseForeign } from './own-claim.ts';

/**
 * Brings a DataVolume that is cloned from a snapshot one write further. Always by way of the populator: clones on classes of
 * in-tree drivers are not simulated.
 */
export async function reconcileClone(context: CdiContext, dataVolume: DataVolume): Promise<Again> {
  const downMs = context.downForMs(dataVolume.metadata.namespace, importNameOf(dataVolume));
  if (downMs > 0) return { requeueAfterMs: downMs };
  if (!context.claims.find(referenceOf(dataVolume))) await refreshClass(context, dataVolume);
  const observed = observe(context, dataVolume);
  if (!dataVolume.metadata.deletionTimestamp && isForeign(observed)) await refuseForeign(context, observed);
  const writes = nextForClone(observed);
  await performWithinQuota(context, observed, writes);
  return writes.length > 0 ? { holdMs: context.timings.tickMs } : undefined;
}

function observe(context: CdiContext, dataVolume: DataVolume): ObservedClone {
  const { clock, cloneSources, snapshots } = context;
  const { claim, rendered, waitsForConsumer } = claimOf(context, dataVolume);
  const source = snapshotOf(dataVolume);
  return {
    dataVolume,
    snapshot: snapshots.find(source),
    claim,
    cloneSource: cloneSources.find({ namespace: source.namespace, name: volumeCloneSourceName(dataVolume) }),
    rendered,
    waitsForConsumer,
    nowMs: clock.now(),
  };
}
