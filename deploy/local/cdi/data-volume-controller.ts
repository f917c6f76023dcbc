import type { ObjectReference } from '../../../shared/resources/resource.ts';
import { ApiError } from '../../../shared/runtime/errors.ts';
import { annotation } from './annotation.ts';
import { bindsAtOnce, primeName } from './claims.ts';
import type { CdiContext } from './context.ts';
import { hindered, isForeign, isUnderWay, nextForDataVolume, type ObservedDataVolume } from './data-volume-step.ts';
import { importNameOf } from './import-name.ts';
import { importSourceOf, volumeImportSourceName } from './import-source.ts';
import { Claim, type DataVolume, StorageClass } from './kinds.ts';
import { classFor, renderClaimSpec, waitsForConsumer } from './storage-profile.ts';
import type { Again } from './work-queue.ts';
import type { Write } from './write.ts';

/** Brings one DataVolume one write further; returns when to look at it again. */
export async function reconcileDataVolume(context: CdiContext, ref: ObjectReference): Promise<Again> {
  const { timings } = context;
  const dataVolume = context.dataVolumes.find(ref);
  if (!dataVolume || dataVolume.metadata.deletionTimestamp || !importSourceOf(dataVolume.spec.source)) return undefined;
  const downMs = context.downForMs(ref.namespace, importNameOf(dataVolume));
  if (downMs > 0) return { lookAgainMs: downMs };
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
  return classic && isUnderWay(phase) ? { lookAgainMs: timings.progressMs } : undefined;
}

/** Looks at the class itself before it is said to be missing: it may have been made just before the DataVolume. */
async function refreshClass({ kube, storageClasses }: CdiContext, { spec }: DataVolume) {
  const name = (spec.pvc ?? spec.storage)?.storageClassName;
  if (name === undefined || storageClasses.find({ name })) return;
  const storageClass = await kube.get(StorageClass, { name });
  if (storageClass) storageClasses.learn(storageClass);
}

function observe(context: CdiContext, dataVolume: DataVolume) {
  const { clock, claims, importSources, storageClasses, profiles, kubelet } = context;
  const { namespace, name } = dataVolume.metadata;
  const claim = claims.find({ namespace, name });
  const prime = claim && claims.find({ namespace, name: primeName(claim) });
  const importSource = importSources.find({ namespace, name: volumeImportSourceName(dataVolume) });
  const classes = [...storageClasses.objects.values()];
  const storageClass = classFor(
    (claim?.spec ?? dataVolume.spec.pvc ?? dataVolume.spec.storage)?.storageClassName,
    classes,
  );
  const held = claim && !bindsAtOnce(claim) && claim.metadata.annotations?.[annotation.selectedNode] === undefined;
  return {
    dataVolume,
    claim,
    prime,
    importSource,
    rendered: renderClaimSpec(dataVolume, classes, profiles),
    csi: storageClass !== undefined && !storageClass.provisioner.startsWith('kubernetes.io/'),
    waitsForConsumer: Boolean(held) && waitsForConsumer(storageClass),
    podProgress: kubelet.progressOf({ namespace, name: `importer-${name}` }),
    nowMs: clock.now(),
  } satisfies ObservedDataVolume;
}

async function performWithinQuota(context: CdiContext, observed: ObservedDataVolume, writes: Write[]) {
  const { clock, faults } = context;
  try {
    const name = importNameOf(observed.dataVolume);
    const claims = writes.some((write) => write.do === 'create' && write.resource === Claim);
    // Each try is an occasion of its own.
    if (claims && faults.strike(`${clock.now()}`, name, 'quota')) throw quotaExceeded(name.dataVolume);
    await context.perform(writes);
  } catch (error) {
    const exceeded = error instanceof ApiError && error.message.includes('exceeded quota:');
    if (exceeded) await context.perform(hindered(observed, 'Pending', 'ErrExceededQuota', error.message));
    throw error;
  }
}

const quotaExceeded = (claim: string) =>
  new ApiError(
    403,
    'Forbidden',
    `persistentvolumeclaims "${claim}" is forbidden: exceeded quota: storage, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=10, limited: persistentvolumeclaims=10`,
  );

async function refuseForeign({ perform }: CdiContext, { dataVolume }: ObservedDataVolume) {
  const message = `Resource "${dataVolume.metadata.name}" already exists and is not managed by DataVolume`;
  const from = 'datavolume-import-controller';
  await perform([{ do: 'event', about: dataVolume, from, type: 'Warning', reason: 'ErrResourceExists', message }]);
  throw new Error(message);
}
