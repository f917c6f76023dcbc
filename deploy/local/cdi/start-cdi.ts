import type { KubernetesObject, ObjectReference } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Clock } from '../clock.ts';
import { type Informer, startInformer } from '../controller/informer.ts';
import { Claim, DataVolume, Pod, StorageClass, VolumeCloneSource, VolumeImportSource } from '../controller/kinds.ts';
import { learning, type Running, runControllers } from '../controller/run-controllers.ts';
import { type Again, startWorkQueue } from '../controller/work-queue.ts';
import { writer } from '../controller/write.ts';
import { VolumeSnapshot } from '../snapshots/kinds.ts';
import type { CdiContext, ImportImage } from './context.ts';
import { reconcileDataVolume } from './data-volume-controller.ts';
import { downTimes } from './down-times.ts';
import { type FaultRule, faultTable } from './faults.ts';
import { reconcileImport } from './import-controller.ts';
import { importNameOfClaim } from './import-name.ts';
import { kubelet } from './kubelet.ts';
import { reconcileTarget } from './populator.ts';
import { type CdiTimings, type CdiVariants, defaultTimings } from './settings.ts';
import { defaultStorageProfiles, type StorageProfiles } from './storage-profile.ts';
import { reconcileVolume } from './volume-controller.ts';
import { wakers } from './wakers.ts';

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
 * Simulates CDI's controllers of imports and of clones from snapshots, the driver and volume controller beneath their claims, and the kubelet under their
 * pods, each as an ordinary client that knows of the others only what stands in the objects.
 */
export function startCdi(options: CdiOptions): Running {
  const { kube, clock, onError } = options;
  const abort = new AbortController();
  const seen = {
    dataVolumes: startInformer(kube, DataVolume, abort.signal),
    claims: startInformer(kube, Claim, abort.signal),
    pods: startInformer(kube, Pod, abort.signal),
    importSources: startInformer(kube, VolumeImportSource, abort.signal),
    cloneSources: startInformer(kube, VolumeCloneSource, abort.signal),
    snapshots: startInformer(kube, VolumeSnapshot, abort.signal),
    storageClasses: startInformer(kube, StorageClass, abort.signal),
  };
  const informers = Object.values(seen) as Informer<KubernetesObject>[];
  const out = writer(kube, clock, 'cdi-controller', learning(informers));
  const faults = faultTable(options.faults ?? []);
  const context: CdiContext = {
    ...seen,
    kube,
    clock,
    faults,
    timings: { ...defaultTimings, ...options.timings },
    variants: options.variants ?? {},
    profiles: options.storageProfiles ?? defaultStorageProfiles,
    importImage: options.importImage,
    perform: out.perform,
    kubelet: { progressOf: (ref) => node.progressOf(ref) },
    notes: new Map(),
    volumes: new Map(),
    provisioning: new Map(),
    handOvers: new Set(),
    cloneErrors: new Map(),
    flaps: new Map(),
    firstPodEnds: new Map(),
    importNameOf: (claim) => importNameOfClaim(seen.dataVolumes, claim),
    downForMs: downTimes(clock, faults),
    wakeOwner: (claim) => wake.owner(claim),
  };
  const queue = (reconcile: (ref: ObjectReference) => Promise<Again>) =>
    startWorkQueue({ clock, reconcile, retry: { firstMs: 100, maxMs: 5000 }, onError });
  const queues = {
    dataVolumes: queue((ref) => reconcileDataVolume(context, ref)),
    targets: queue((ref) => reconcileTarget(context, ref)),
    imports: queue((ref) => reconcileImport(context, ref)),
    volumes: queue((ref) => reconcileVolume(context, ref)),
    pods: queue((ref) => node.reconcile(ref)),
  };
  const node = kubelet(context, queues.pods.add);
  const wake = wakers(context, queues);
  return runControllers({ abort, informers, queues: Object.values(queues), out, stopRest: () => node.stop() });
}
