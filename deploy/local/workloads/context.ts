import { NetworkAttachmentDefinition } from '../../../shared/kinds/cni/network-attachment-definition.ts';
import { Claim, StorageClass } from '../controller/kinds.ts';
import type { Shared } from '../controller/simulator.ts';
import type { TimeInState } from '../controller/time-in-state.ts';
import type { WorkloadFaults } from './faults.ts';
import { Deployment, Job, Pod, ReplicaSet } from './kinds.ts';
import type { WorkloadTimings } from './settings.ts';

export const watched = {
  deployments: Deployment,
  replicaSets: ReplicaSet,
  jobs: Job,
  pods: Pod,
  claims: Claim,
  storageClasses: StorageClass,
  networks: NetworkAttachmentDefinition,
};

/** What the simulated controllers share. All of it but the settings can be lost without harm to the objects. */
export interface WorkloadContext extends Shared<typeof watched> {
  timings: WorkloadTimings;
  faults: WorkloadFaults;
  times: TimeInState;
}
