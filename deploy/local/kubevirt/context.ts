import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Clock } from '../clock.ts';
import type { Informer } from '../controller/informer.ts';
import type { Claim, DataVolume, Pod, StorageClass } from '../controller/kinds.ts';
import type { Write } from '../controller/write.ts';
import type { MachineFaults } from './faults.ts';
import type { NetworkAttachmentDefinition, VirtualMachine, VirtualMachineInstance } from './kinds.ts';
import type { KubevirtTimings } from './settings.ts';
import type { Stopwatch } from './stopwatch.ts';

/** What the simulated controllers share. All of it but the settings can be lost without harm to the objects. */
export interface KubevirtContext {
  kube: Kube;
  clock: Clock;
  timings: KubevirtTimings;
  faults: MachineFaults;
  /** Whether guests have an agent where no fault says otherwise. */
  guestAgent: boolean;
  machines: Informer<VirtualMachine>;
  instances: Informer<VirtualMachineInstance>;
  pods: Informer<Pod>;
  dataVolumes: Informer<DataVolume>;
  claims: Informer<Claim>;
  storageClasses: Informer<StorageClass>;
  networks: Informer<NetworkAttachmentDefinition>;
  stopwatch: Stopwatch;
  /** Performs writes; every look after them sees them. */
  perform(writes: readonly Write[]): Promise<void>;
}
