import type { KubernetesObject, ObjectReference } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Clock } from '../clock.ts';
import { type Informer, startInformer } from '../controller/informer.ts';
import { Claim, StorageClass } from '../controller/kinds.ts';
import { learning, type Running, runControllers } from '../controller/run-controllers.ts';
import { type Again, startWorkQueue } from '../controller/work-queue.ts';
import { writer } from '../controller/write.ts';
import { NetworkAttachmentDefinition } from '../kubevirt/kinds.ts';
import type { WorkloadContext } from './context.ts';
import { reconcileDeployment } from './deployment-controller.ts';
import { type WorkloadFaultRule, workloadFaults } from './faults.ts';
import { reconcileJob } from './job-controller.ts';
import { Deployment, Job, Pod, ReplicaSet } from './kinds.ts';
import { reconcilePod } from './pod-controller.ts';
import { reconcileReplicaSet } from './replica-set-controller.ts';
import { defaultTimings, type WorkloadTimings } from './settings.ts';
import { timeInState } from './time-in-state.ts';
import { wakers } from './wakers.ts';

export interface WorkloadOptions {
  kube: Kube;
  clock: Clock;
  faults?: readonly WorkloadFaultRule[];
  timings?: Partial<WorkloadTimings>;
  /** Hears of every look that failed and is going to be repeated. */
  onError?: (error: unknown, ref: ObjectReference) => void;
}

/**
 * Simulates what a real cluster has of its own for the Deployments and Jobs of workspaces: their controllers, a scheduler, the kubelet of
 * one node and Multus, each as an ordinary client that knows of the others only what stands in the objects. No container runs.
 */
export function startWorkloads(options: WorkloadOptions): Running {
  const { kube, clock, onError } = options;
  const abort = new AbortController();
  const seen = {
    deployments: startInformer(kube, Deployment, abort.signal),
    replicaSets: startInformer(kube, ReplicaSet, abort.signal),
    jobs: startInformer(kube, Job, abort.signal),
    pods: startInformer(kube, Pod, abort.signal),
    claims: startInformer(kube, Claim, abort.signal),
    storageClasses: startInformer(kube, StorageClass, abort.signal),
    networks: startInformer(kube, NetworkAttachmentDefinition, abort.signal),
  };
  const informers = Object.values(seen) as Informer<KubernetesObject>[];
  const out = writer(kube, clock, 'kube-controller-manager', learning(informers));
  const context: WorkloadContext = {
    ...seen,
    kube,
    clock,
    faults: workloadFaults(options.faults ?? []),
    timings: { ...defaultTimings, ...options.timings },
    times: timeInState(clock),
    perform: out.perform,
  };
  const queue = (reconcile: (context: WorkloadContext, ref: ObjectReference) => Promise<Again>) =>
    startWorkQueue({
      clock,
      reconcile: (ref) => reconcile(context, ref),
      retry: { firstMs: 100, maxMs: 5000 },
      onError,
    });
  const queues = {
    deployments: queue(reconcileDeployment),
    replicaSets: queue(reconcileReplicaSet),
    jobs: queue(reconcileJob),
    pods: queue(reconcilePod),
  };
  wakers(context, queues);
  return runControllers({ abort, informers, queues: Object.values(queues), out });
}
