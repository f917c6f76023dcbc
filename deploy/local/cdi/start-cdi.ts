import { type Running, type SimulatorOptions, simulator } from '../controller/simulator.ts';
import { timeInState } from '../controller/time-in-state.ts';
import { type CdiContext, type ImportImage, watched } from './context.ts';
import { reconcileDataVolume } from './data-volume-controller.ts';
import { downTimes } from './down-times.ts';
import { addEventHandlers } from './event-handlers.ts';
import { type FaultRule, faultTable } from './faults.ts';
import { reconcileImport } from './import-controller.ts';
import { importNameOfClaim } from './import-name.ts';
import { kubelet } from './kubelet.ts';
import { reconcileTarget } from './populator.ts';
import { type CdiTimings, type CdiVariants, defaultTimings } from './settings.ts';
import { defaultStorageProfiles, type StorageProfiles } from './storage-profile.ts';
import { reconcileVolume } from './volume-controller.ts';

export interface CdiOptions extends SimulatorOptions {
  importImage: ImportImage;
  faults?: readonly FaultRule[];
  /** The drivers whose volumes are made here, by provisioner; claims of any other are left alone. */
  storageProfiles?: StorageProfiles;
  variants?: CdiVariants;
  timings?: Partial<CdiTimings>;
}

/**
 * Simulates CDI's controllers of imports and of clones from snapshots, the driver and volume controller beneath their claims, and the kubelet under their
 * pods, each as an ordinary client that knows of the others only what stands in the objects.
 */
export function startCdi(options: CdiOptions): Running {
  const { shared, queue, run } = simulator(options, 'cdi-controller', watched);
  const faults = faultTable(options.faults ?? []);
  const context: CdiContext = {
    ...shared,
    faults,
    timings: { ...defaultTimings, ...options.timings },
    variants: options.variants ?? {},
    profiles: options.storageProfiles ?? defaultStorageProfiles,
    importImage: options.importImage,
    kubelet: { progressOf: (ref) => node.progressOf(ref) },
    notes: new Map(),
    volumes: new Map(),
    provisioning: new Map(),
    handOvers: new Set(),
    times: timeInState(options.clock),
    flaps: new Map(),
    importNameOf: (claim) => importNameOfClaim(shared.dataVolumes, claim),
    downForMs: downTimes(options.clock, faults),
    wakeOwner: (claim) => wake.owner(claim),
  };
  const queues = {
    dataVolumes: queue((ref) => reconcileDataVolume(context, ref)),
    targets: queue((ref) => reconcileTarget(context, ref)),
    imports: queue((ref) => reconcileImport(context, ref)),
    volumes: queue((ref) => reconcileVolume(context, ref)),
    pods: queue((ref) => node.reconcile(ref)),
  };
  const node = kubelet(context, queues.pods.add);
  const wake = addEventHandlers(context, queues);
  return run(() => node.stop());
}
