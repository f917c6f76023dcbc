import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import type { Claim } from '../controller/kinds.ts';
import type { Again } from '../controller/work-queue.ts';
import { annotation } from './annotation.ts';
import { primeName } from './claims.ts';
import { reconcileCloneTarget } from './clone-populator.ts';
import { isClone } from './clone-populator-step.ts';
import type { CdiContext } from './context.ts';
import { isHandOver, isPopulatedByImport, nextForTarget } from './populator-step.ts';
import { classFor, waitsForConsumer } from './storage-profile.ts';

/** Brings the population of one claim one write further. */
export async function reconcileTarget(context: CdiContext, ref: ObjectReference): Promise<Again> {
  const { timings, handOvers } = context;
  const target = context.claims.find(ref);
  if (target && isClone(target)) return reconcileCloneTarget(context, target);
  if (!target || !isPopulatedByImport(target) || target.metadata.deletionTimestamp) return undefined;
  const downMs = context.downForMs(ref.namespace, context.importNameOf(target));
  if (downMs > 0) return { requeueAfterMs: downMs };
  const observed = observe(context, target);
  const writes = nextForTarget(observed);
  if (writes.length === 0) return isImporting(target) ? { requeueAfterMs: timings.progressMs } : undefined;
  if (isHandOver(writes) && !handOvers.has(target.metadata.uid)) {
    handOvers.add(target.metadata.uid);
    return { holdMs: timings.rebindMs };
  }
  handOvers.delete(target.metadata.uid);
  await context.perform(writes);
  return { holdMs: timings.tickMs };
}

const isImporting = ({ metadata }: Claim) => metadata.annotations?.[annotation.podPhase] === 'Running';

function observe({ claims, importSources, storageClasses, kubelet, notes, variants }: CdiContext, target: Claim) {
  const { namespace } = target.metadata;
  const prime = claims.find({ namespace, name: primeName(target) });
  const importSource = importSources.find({ namespace, name: target.spec.dataSourceRef?.name ?? '' });
  return {
    target,
    prime,
    importSource,
    clusterBinds: variants.clusterBinds ?? false,
    waitsForConsumer: waitsForConsumer(classFor(target.spec.storageClassName, storageClasses.objects.values())),
    primeEvent: prime && notes.get(prime.metadata.uid),
    podProgress: kubelet.progressOf({ namespace, name: `importer-${primeName(target)}` }),
  };
}
