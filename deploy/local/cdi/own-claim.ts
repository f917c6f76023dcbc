import { referenceOf } from '../../../shared/kinds/resource.ts';
import { Claim, type DataVolume, StorageClass } from '../controller/kinds.ts';
import { eventsFrom, type Write } from '../controller/write.ts';
import { annotation } from './annotation.ts';
import { bindsAtOnce } from './claims.ts';
import type { CdiContext } from './context.ts';
import { hindered, type ObservedDataVolume } from './data-volume-step.ts';
import { importNameOf } from './import-name.ts';
import { isQuotaExceeded, quotaExceeded } from './quota.ts';
import { classFor, renderClaimSpec, waitsForConsumer } from './storage-profile.ts';

/** Reads the class itself before reporting it missing: it may have been created just before the DataVolume. */
export async function refreshClass({ kube, storageClasses }: CdiContext, { spec }: DataVolume) {
  const name = (spec.pvc ?? spec.storage)?.storageClassName;
  if (name === undefined || storageClasses.find({ name })) return;
  const storageClass = await kube.get(StorageClass, { name });
  if (storageClass) storageClasses.learn(storageClass);
}

/** The claim of a DataVolume with its class, what it is to be, and whether it waits for its first consumer. */
export function claimOf({ claims, storageClasses, profiles }: CdiContext, dataVolume: DataVolume) {
  const claim = claims.find(referenceOf(dataVolume));
  const classes = [...storageClasses.objects.values()];
  const { storageClassName } = claim?.spec ?? dataVolume.spec.pvc ?? dataVolume.spec.storage ?? {};
  const storageClass = classFor(storageClassName, classes);
  const isHeld = claim && !bindsAtOnce(claim) && claim.metadata.annotations?.[annotation.selectedNode] === undefined;
  return {
    claim,
    storageClass,
    rendered: renderClaimSpec(dataVolume, classes, profiles),
    waitsForConsumer: Boolean(isHeld) && waitsForConsumer(storageClass),
  };
}

/** Performs writes about a DataVolume; a claim that exceeds the quota is reported in its conditions. */
export async function performWithinQuota(
  context: CdiContext,
  observed: Pick<ObservedDataVolume, 'dataVolume' | 'nowMs'>,
  writes: Write[],
) {
  const { clock, faults } = context;
  try {
    const name = importNameOf(observed.dataVolume);
    const claims = writes.some((write) => write.do === 'create' && write.resource === Claim);
    // Each try is an occasion of its own.
    if (claims && faults.inject(`${clock.now()}`, name, 'quota')) throw quotaExceeded(name.dataVolume);
    await context.perform(writes);
  } catch (error) {
    if (isQuotaExceeded(error)) await context.perform(hindered(observed, 'Pending', 'ErrExceededQuota', error.message));
    throw error;
  }
}

/** Says that the claim of this name is someone else's, and fails. */
export async function refuseForeign({ perform }: CdiContext, { dataVolume }: Pick<ObservedDataVolume, 'dataVolume'>) {
  const message = `Resource "${dataVolume.metadata.name}" already exists and is not managed by DataVolume`;
  const eventOn = eventsFrom('datavolume-import-controller');
  await perform([eventOn(dataVolume, 'Warning', 'ErrResourceExists', message)]);
  throw new Error(message);
}
