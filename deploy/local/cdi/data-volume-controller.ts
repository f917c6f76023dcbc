import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import type { DataVolume } from '../controller/kinds.ts';
import type { Again } from '../controller/work-queue.ts';
import { annotation } from './annotation.ts';
import { primeName } from './claims.ts';
import { reconcileClone } from './clone-controller.ts';
import type { CdiContext } from './context.ts';
import { isForeign, isUnderWay, nextForDataVolume, type ObservedDataVolume } from './data-volume-step.ts';
import { importNameOf } from './import-name.ts';
import { importSourceOf, volumeImportSourceName } from './import-source.ts';
import { claimOf, performWithinQuota, refreshClass, refuseForeign } from './own-claim.ts';

/** Brings one DataVolume one write further; returns when to look at it again. */
export async function reconcileDataVolume(context: CdiContext, ref: ObjectReference): Promise<Again> {
  const { timings } = context;
  const dataVolume = context.dataVolumes.find(ref);
  if (dataVolume?.spec.source?.snapshot) return reconcileClone(context, dataVolume);
  if (!dataVolume || dataVolume.metadata.deletionTimestamp || !importSourceOf(dataVolume.spec.source)) return undefined;
  const downMs = context.downForMs(ref.namespace, importNameOf(dataVolume));
  if (downMs > 0) return { requeueAfterMs: downMs };
  if (!context.claims.find(ref)) await refreshClass(context, dataVolume);
  const observed = observe(context, dataVolume);
  if (isForeign(observed)) await refuseForeign(context, observed);
  const writes = nextForDataVolume(observed, context.variants);
  if (writes.length > 0) {
    await performWithinQuota(context, observed, writes);
    return { holdMs: timings.tickMs };
  }
  const { phase = '' } = dataVolume.status ?? {};
  const classic = dataVolume.metadata.annotations?.[annotation.usePopulator] === 'false';
  return classic && isUnderWay(phase) ? { requeueAfterMs: timings.progressMs } : undefined;
}

function observe(context: CdiContext, dataVolume: DataVolume) {
  const { clock, claims, importSources, kubelet } = context;
  const { namespace, name } = dataVolume.metadata;
  const { claim, storageClass, rendered, waitsForConsumer } = claimOf(context, dataVolume);
  return {
    dataVolume,
    claim,
    prime: claim && claims.find({ namespace, name: primeName(claim) }),
    importSource: importSources.find({ namespace, name: volumeImportSourceName(dataVolume) }),
    rendered,
    csi: storageClass !== undefined && !storageClass.provisioner.startsWith('kubernetes.io/'),
    waitsForConsumer,
    podProgress: kubelet.progressOf({ namespace, name: `importer-${name}` }),
    nowMs: clock.now(),
  } satisfies ObservedDataVolume;
}
