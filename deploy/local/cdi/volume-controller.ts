import { keyOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import { ifServed } from '../../../shared/runtime/if-served.ts';
import { Claim, claimsOf, DataVolume, PersistentVolume, type StorageClass } from '../controller/kinds.ts';
import { controllerOf } from '../controller/owner.ts';
import { bytesOf } from '../controller/quantity.ts';
import type { Again } from '../controller/work-queue.ts';
import { deletionOf, type EventText, patchOf, statusOf, type Write, withoutFinalizer } from '../controller/write.ts';
import { VolumeSnapshot } from '../snapshots/kinds.ts';
import { annotation } from './annotation.ts';
import { bindsAtOnce, claimProtection } from './claims.ts';
import type { CdiContext } from './context.ts';
import { classFor, waitsForConsumer } from './storage-profile.ts';
import { grown, lost, provisioned } from './volume.ts';

/**
 * Simulates driver and volume controller for one claim of a class whose driver is in the table of profiles: makes its
 * volume, protects it while a pod mounts it, loses it if a fault is injected. Claims of other drivers are left alone.
 */
export async function reconcileVolume(context: CdiContext, ref: ObjectReference): Promise<Again> {
  const claim = context.claims.find(ref);
  if (!claim) return void (await reclaim(context, ref));
  if (claim.metadata.deletionTimestamp) return void (await context.perform(release(context, claim)));
  const storageClass = classFor(claim.spec.storageClassName, context.storageClasses.objects.values());
  if (!storageClass || !(storageClass.provisioner in context.profiles)) return undefined;
  // A claim that names no class is given the default one, also where that became so later.
  if (claim.spec.storageClassName === undefined) {
    await context.perform([patchOf(Claim, claim, { spec: { storageClassName: storageClass.metadata.name } })]);
    return undefined;
  }
  if (claim.spec.volumeName) context.volumes.set(keyOf(ref), claim.spec.volumeName);
  switch (claim.status?.phase) {
    case undefined:
      // The API server's own first word about a claim, where it has not said it.
      await context.perform([statusOf(Claim, claim, { phase: 'Pending' })]);
      return undefined;
    case 'Pending':
      return provision(context, claim, storageClass);
    case 'Bound':
      return isTooSmall(claim) ? grow(context, claim) : loseByFault(context, claim);
    default:
      return undefined;
  }
}

/** Deletes the volume of a claim that is gone, unless it has become another's. */
async function reclaim({ kube, claims, volumes }: CdiContext, ref: ObjectReference): Promise<void> {
  const name = volumes.get(keyOf(ref));
  volumes.delete(keyOf(ref));
  if (!name || [...claims.objects.values()].some((claim) => claim.spec.volumeName === name)) return;
  await kube.delete(PersistentVolume, { name });
}

function release(context: CdiContext, claim: Claim): Write[] {
  if (!claim.metadata.finalizers?.includes(claimProtection)) return [];
  // A pod counts from when it has a node (pvc_protection_controller.go podUsesPVC), and has none before its claims are bound.
  const isMounted = claim.status?.phase !== 'Pending' && podsOn(context, claim).length > 0;
  return isMounted ? [] : [withoutFinalizer(Claim, claim, claimProtection)];
}

async function provision(context: CdiContext, claim: Claim, storageClass: StorageClass): Promise<Again> {
  const { clock, timings, provisioning, notes, faults } = context;
  const { uid } = claim.metadata;
  // CDI's populators bring the volume themselves.
  if (claim.spec.dataSourceRef?.apiGroup === 'cdi.kubevirt.io') return undefined;
  if (waitsForConsumer(storageClass) && !hasConsumer(context, claim)) return undefined;
  if (!(await hasItsSource(context, claim))) return { requeueAfterMs: sourcePollMs };
  const startedMs = provisioning.get(uid) ?? clock.now();
  if (!provisioning.has(uid)) {
    notes.set(uid, waitsForDriver(storageClass));
    context.wakeOwner(claim);
  }
  provisioning.set(uid, startedMs);
  const restMs = startedMs + timings.bindMs - clock.now();
  if (restMs > 0) return { holdMs: restMs };
  provisioning.delete(uid);
  // A claim that no import fills is known by its own name.
  const name = context.importNameOf(claim) ?? { dataVolume: claim.metadata.name, url: '' };
  if (faults.inject(`${uid} ${clock.now()}`, name, 'provisionError')) {
    await note(context, claim, provisioningFailed(storageClass));
    return { requeueAfterMs: timings.bindMs * 10 };
  }
  await context.perform(provisioned(claim, storageClass, context.variants));
  const message = `Successfully provisioned volume pvc-${uid}`;
  notes.set(uid, { type: 'Normal', reason: 'ProvisioningSucceeded', message });
  return undefined;
}

const waitsForDriver = ({ provisioner }: StorageClass): EventText => ({
  type: 'Normal',
  reason: 'ExternalProvisioning',
  message: `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
});

const sourcePollMs = 1000;

/** A claim that restores a snapshot waits until that can be used; the driver asks again and again. */
async function hasItsSource({ kube }: CdiContext, { metadata, spec }: Claim): Promise<boolean> {
  const source = spec.dataSource ?? spec.dataSourceRef;
  if (source?.kind !== VolumeSnapshot.kind) return true;
  const snapshot = await kube.get(VolumeSnapshot, { namespace: metadata.namespace, name: source.name });
  return snapshot?.status?.readyToUse === true;
}

const provisioningFailed = ({ metadata }: StorageClass): EventText => ({
  type: 'Warning',
  reason: 'ProvisioningFailed',
  message: `failed to provision volume with StorageClass "${metadata.name}": rpc error: code = ResourceExhausted desc = volume limit exceeded`,
});

async function note({ perform, notes, wakeOwner }: CdiContext, claim: Claim, text: EventText) {
  notes.set(claim.metadata.uid, text);
  await perform([{ do: 'event', about: claim, from: 'ebs.csi.aws.com_ot-simulated', ...text }]);
  wakeOwner(claim);
}

function hasConsumer(context: CdiContext, claim: Claim): boolean {
  if (bindsAtOnce(claim) || claim.metadata.annotations?.[annotation.selectedNode] !== undefined) return true;
  return podsOn(context, claim).some((pod) => !pod.metadata.deletionTimestamp);
}

export const podsOn = ({ pods }: Pick<CdiContext, 'pods'>, { metadata: { namespace, name } }: Claim) =>
  [...pods.objects.values()].filter((pod) => pod.metadata.namespace === namespace && claimsOf(pod).includes(name));

const requestIn = ({ spec }: Claim) => spec.resources?.requests?.storage ?? '0';

const isTooSmall = (claim: Claim) =>
  bytesOf(claim.status?.capacity?.storage ?? requestIn(claim)) < bytesOf(requestIn(claim));

async function grow(context: CdiContext, claim: Claim): Promise<Again> {
  await context.perform(grown(claim, requestIn(claim)));
  return { holdMs: context.timings.tickMs };
}

/** Kubernetes protects a bound volume, and reports its claim Bound again while the volume exists. */
const gone = (volume: PersistentVolume): Write[] => [
  deletionOf(PersistentVolume, volume),
  ...(volume.metadata.finalizers?.length
    ? [patchOf(PersistentVolume, volume, { metadata: { finalizers: null } })]
    : []),
];

async function loseByFault(context: CdiContext, claim: Claim): Promise<Again> {
  const { kube, faults } = context;
  const owner = controllerOf(claim);
  const { annotations = {} } = claim.metadata;
  const isFilled = [annotations[annotation.podPhase], annotations[annotation.clonePhase]].includes('Succeeded');
  if (owner?.kind !== DataVolume.kind || !isFilled) return undefined;
  const { namespace } = claim.metadata;
  const dataVolume = context.dataVolumes.find({ namespace, name: owner.name });
  const isDone = dataVolume?.status?.conditions.some(({ type, status }) => type === 'Bound' && status === 'True');
  const name = context.importNameOf(claim);
  if (!name || !faults.inject(claim.metadata.uid, name, 'claimLost')) return undefined;
  // A finished DataVolume changes nothing on the claim, and so triggers no reconcile.
  if (!isDone) return { requeueAfterMs: 50 };
  // The local API server serves no volumes.
  const volume = await ifServed(kube.get(PersistentVolume, { name: claim.spec.volumeName ?? '' }));
  await context.perform([...(volume ? gone(volume) : []), lost(claim)]);
  return undefined;
}
