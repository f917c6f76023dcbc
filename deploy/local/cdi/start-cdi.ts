import type { KubernetesObject, ObjectReference, Resource } from '../../../shared/resources/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Clock } from '../clock.ts';
import { annotation } from './annotation.ts';
import type { CdiContext, ImportImage } from './context.ts';
import { reconcileDataVolume } from './data-volume-controller.ts';
import { type FaultRule, faultTable, type ImportName } from './faults.ts';
import { reconcileImport } from './import-controller.ts';
import { importNameOf } from './import-name.ts';
import { type Informer, keyOf, startInformer } from './informer.ts';
import { Claim, claimsOf, DataVolume, Pod, StorageClass, VolumeImportSource } from './kinds.ts';
import { kubelet } from './kubelet.ts';
import { controllerOf } from './owner.ts';
import { reconcileTarget } from './populator.ts';
import { type CdiTimings, type CdiVariants, defaultTimings } from './settings.ts';
import { defaultStorageProfiles, type StorageProfiles } from './storage-profile.ts';
import { podsOn, reclaimVolume, reconcileVolume } from './volume-controller.ts';
import { type Again, startWorkQueue } from './work-queue.ts';
import { writer } from './write.ts';

export interface Running {
  /** Ends everything that was started and resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

export interface CdiOptions {
  kube: Kube;
  clock: Clock;
  importImage: ImportImage;
  faults?: readonly FaultRule[];
  /** The drivers whose volumes are made here, by provisioner; claims of any other are left alone. */
  storageProfiles?: StorageProfiles;
  variants?: CdiVariants;
  timings?: Partial<CdiTimings>;
  /** Hears of every look that failed and is going to be repeated. */
  onError?: (error: unknown, ref: ObjectReference) => void;
}

/**
 * Plays CDI's import controllers, the driver and volume controller beneath their claims, and the kubelet under their
 * pods, each as an ordinary client that knows of the others only what stands in the objects.
 */
export function startCdi(options: CdiOptions): Running {
  const { kube, clock, importImage, faults = [], onError } = options;
  const timings = { ...defaultTimings, ...options.timings };
  const abort = new AbortController();
  const dataVolumes = startInformer(kube, DataVolume, abort.signal);
  const claims = startInformer(kube, Claim, abort.signal);
  const pods = startInformer(kube, Pod, abort.signal);
  const importSources = startInformer(kube, VolumeImportSource, abort.signal);
  const storageClasses = startInformer(kube, StorageClass, abort.signal);

  const learn = (resource: Resource, object: KubernetesObject) => {
    for (const one of [dataVolumes, claims, pods, importSources] as Informer<KubernetesObject>[])
      if (one.resource === resource) one.learn(object);
  };
  const out = writer(kube, clock, learn);
  const context: CdiContext = {
    kube,
    clock,
    timings,
    variants: options.variants ?? {},
    profiles: options.storageProfiles ?? defaultStorageProfiles,
    importImage,
    faults: faultTable(faults),
    dataVolumes,
    claims,
    pods,
    importSources,
    storageClasses,
    kubelet: { progressOf: (ref) => node.progressOf(ref) },
    notes: new Map(),
    provisioning: new Map(),
    handOvers: new Set(),
    flaps: new Map(),
    perform: out.perform,
    importNameOf: (claim) => importNameOfClaim(context, claim),
    downForMs: downTimes(() => context),
    wakeOwner: (claim) => wakeController(claim),
  };
  const queue = (reconcile: (context: CdiContext, ref: ObjectReference) => Promise<Again>) =>
    startWorkQueue({
      clock,
      reconcile: (ref) => reconcile(context, ref),
      retry: { firstMs: 100, maxMs: 5000 },
      onError,
    });
  const dataVolumeQueue = queue(reconcileDataVolume);
  const targetQueue = queue(reconcileTarget);
  const importQueue = queue(reconcileImport);
  const volumeQueue = queue(reconcileVolume);
  const podQueue = queue((_, ref) => node.reconcile(ref));
  const node = kubelet(context, podQueue.add);

  const wakeController = (object: Claim | Pod | VolumeImportSource) => {
    const owner = controllerOf(object);
    const ref = { namespace: object.metadata.namespace, name: owner?.name ?? '' };
    if (owner?.kind === DataVolume.kind) dataVolumeQueue.add(ref);
    if (owner?.kind !== Claim.kind) return;
    targetQueue.add(ref);
    importQueue.add(ref);
  };

  dataVolumes.onChange(({ metadata }) => dataVolumeQueue.add(metadata));
  storageClasses.onChange(() => {
    for (const { metadata, status } of dataVolumes.objects.values())
      if (status?.phase !== 'Succeeded') dataVolumeQueue.add(metadata);
    for (const { metadata, status } of claims.objects.values()) {
      if (status?.phase === 'Bound') continue;
      volumeQueue.add(metadata);
      targetQueue.add(metadata);
    }
  });
  importSources.onChange((source) => {
    wakeController(source);
    const owner = controllerOf(source);
    if (owner) targetQueue.add({ namespace: source.metadata.namespace, name: owner.name });
  });
  claims.onChange((claim) => {
    const { metadata } = claim;
    const isGone = !claims.objects.has(keyOf(metadata));
    if (isGone) void reclaimVolume(context, claim).catch((error) => onError?.(error, metadata));
    for (const waiting of [volumeQueue, targetQueue, importQueue]) waiting.add(metadata);
    // A scratch claim that goes makes room for the next pod of the claim beside it.
    if (isGone) importQueue.add({ namespace: metadata.namespace, name: metadata.name.replace(/-scratch$/, '') });
    wakeController(claim);
    for (const pod of podsOn(context, claim)) podQueue.add(pod.metadata);
  });
  pods.onChange((pod) => {
    podQueue.add(pod.metadata);
    wakeController(pod);
    for (const name of claimsOf(pod)) volumeQueue.add({ namespace: pod.metadata.namespace, name });
  });

  return {
    async stop() {
      abort.abort();
      await node.stop();
      await Promise.all([dataVolumeQueue, targetQueue, importQueue, volumeQueue, podQueue].map((one) => one.stop()));
      await out.settled();
      await Promise.all([dataVolumes, claims, pods, importSources, storageClasses].map((one) => one.done));
    },
  };
}

function importNameOfClaim({ dataVolumes }: CdiContext, claim: Claim): ImportName | undefined {
  const owner = controllerOf(claim);
  const { namespace, annotations } = claim.metadata;
  const url = annotations?.[annotation.endpoint];
  if (owner?.kind === Claim.kind) return { dataVolume: owner.name, url: url ?? '' };
  if (owner?.kind !== DataVolume.kind) return undefined;
  const dataVolume = dataVolumes.find({ namespace, name: owner.name });
  return dataVolume && importNameOf(dataVolume);
}

function downTimes(contextOf: () => CdiContext): CdiContext['downForMs'] {
  const firstSeen = new Map<string, number>();
  return (namespace, name) => {
    if (!name) return 0;
    const { clock, faults } = contextOf();
    const key = keyOf({ namespace, name: name.dataVolume });
    const rule = faults.strike(key, name, 'controllerDown');
    if (!rule) return 0;
    const seenMs = firstSeen.get(key) ?? clock.now();
    firstSeen.set(key, seenMs);
    const passedMs = clock.now() - seenMs - (rule.fromMs ?? 0);
    return passedMs < 0 ? 0 : Math.max(0, rule.forMs - passedMs);
  };
}
