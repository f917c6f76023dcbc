import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Clock } from '../clock.ts';
import type { Informer } from '../controller/informer.ts';
import type { Claim, StorageClass } from '../controller/kinds.ts';
import type { Write } from '../controller/write.ts';
import type { NetworkAttachmentDefinition } from '../kubevirt/kinds.ts';
import type { WorkloadFaults } from './faults.ts';
import type { Deployment, Job, Pod, ReplicaSet } from './kinds.ts';
import type { WorkloadTimings } from './settings.ts';
import type { TimeInState } from './time-in-state.ts';

/** What the simulated controllers share. All of it but the settings can be lost without harm to the objects. */
export interface WorkloadContext {
  kube: Kube;
  clock: Clock;
  timings: WorkloadTimings;
  faults: WorkloadFaults;
  deployments: Informer<Deployment>;
  replicaSets: Informer<ReplicaSet>;
  jobs: Informer<Job>;
  pods: Informer<Pod>;
  claims: Informer<Claim>;
  storageClasses: Informer<StorageClass>;
  networks: Informer<NetworkAttachmentDefinition>;
  times: TimeInState;
  /** Performs writes; every look after them sees them. */
  perform(writes: readonly Write[]): Promise<void>;
}

/** What comes next about an object: writes, and when there is more to do if nothing else happens. */
export interface Step {
  writes: Write[];
  waitMs?: number;
}
