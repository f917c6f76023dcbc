import type { KubernetesObject, ObjectReference } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Clock } from '../clock.ts';
import { type Informer, startInformer } from '../controller/informer.ts';
import { Claim, DataVolume, Pod, StorageClass } from '../controller/kinds.ts';
import { learning, type Running, runControllers } from '../controller/run-controllers.ts';
import { type Again, startWorkQueue } from '../controller/work-queue.ts';
import { writer } from '../controller/write.ts';
import type { KubevirtContext } from './context.ts';
import { type MachineFaultRule, machineFaults } from './faults.ts';
import { reconcileInstance } from './instance-controller.ts';
import { NetworkAttachmentDefinition, VirtualMachine, VirtualMachineInstance } from './kinds.ts';
import { reconcileLauncher } from './launcher-controller.ts';
import { reconcileMachine } from './machine-controller.ts';
import { defaultTimings, type KubevirtTimings } from './settings.ts';
import { stopwatch } from './stopwatch.ts';
import { wakers } from './wakers.ts';

export interface KubevirtOptions {
  kube: Kube;
  clock: Clock;
  faults?: readonly MachineFaultRule[];
  /** Whether guests have an agent, which alone knows addresses outside the Pod network; true when left out. */
  guestAgent?: boolean;
  timings?: Partial<KubevirtTimings>;
  /** Hears of every look that failed and is going to be repeated. */
  onError?: (error: unknown, ref: ObjectReference) => void;
}

/**
 * Simulates KubeVirt: virt-controller for machines and their instances, virt-handler and the node under the launcher Pods, each as an
 * ordinary client that knows the others only through objects. admit.ts refuses what KubeVirt's webhooks refuse; it does not run on a
 * real cluster, where a client cannot.
 */
export function startKubevirt(options: KubevirtOptions): Running {
  const { kube, clock, onError, guestAgent = true } = options;
  const abort = new AbortController();
  const seen = {
    machines: startInformer(kube, VirtualMachine, abort.signal),
    instances: startInformer(kube, VirtualMachineInstance, abort.signal),
    pods: startInformer(kube, Pod, abort.signal),
    dataVolumes: startInformer(kube, DataVolume, abort.signal),
    claims: startInformer(kube, Claim, abort.signal),
    storageClasses: startInformer(kube, StorageClass, abort.signal),
    networks: startInformer(kube, NetworkAttachmentDefinition, abort.signal),
  };
  const informers = Object.values(seen) as Informer<KubernetesObject>[];
  const out = writer(kube, clock, 'virt-controller', learning(informers));
  const context: KubevirtContext = {
    ...seen,
    kube,
    clock,
    guestAgent,
    faults: machineFaults(options.faults ?? []),
    timings: { ...defaultTimings, ...options.timings },
    stopwatch: stopwatch(clock),
    perform: out.perform,
  };
  const queue = (reconcile: (context: KubevirtContext, ref: ObjectReference) => Promise<Again>) =>
    startWorkQueue({
      clock,
      reconcile: (ref) => reconcile(context, ref),
      retry: { firstMs: 100, maxMs: 5000 },
      onError,
    });
  const queues = {
    machines: queue(reconcileMachine),
    instances: queue(reconcileInstance),
    launchers: queue(reconcileLauncher),
  };
  wakers(context, queues);
  return runControllers({ abort, informers, queues: Object.values(queues), out });
}
