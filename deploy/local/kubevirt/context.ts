import { NetworkAttachmentDefinition } from '../../../shared/kinds/cni/network-attachment-definition.ts';
import { Claim, DataVolume, Pod, StorageClass } from '../controller/kinds.ts';
import type { Shared } from '../controller/simulator.ts';
import type { TimeInState } from '../controller/time-in-state.ts';
import type { MachineFaults } from './faults.ts';
import { VirtualMachine, VirtualMachineInstance } from './kinds.ts';
import type { KubevirtTimings } from './settings.ts';

export const watched = {
  machines: VirtualMachine,
  instances: VirtualMachineInstance,
  pods: Pod,
  dataVolumes: DataVolume,
  claims: Claim,
  storageClasses: StorageClass,
  networks: NetworkAttachmentDefinition,
};

/** What the simulated controllers share. All of it but the settings can be lost without harm to the objects. */
export interface KubevirtContext extends Shared<typeof watched> {
  timings: KubevirtTimings;
  faults: MachineFaults;
  /** Whether guests have an agent where no fault says otherwise. */
  guestAgent: boolean;
  times: TimeInState;
}
