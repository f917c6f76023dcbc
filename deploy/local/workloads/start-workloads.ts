import { type Running, type SimulatorOptions, simulator } from '../controller/simulator.ts';
import { timeInState } from '../controller/time-in-state.ts';
import { type WorkloadContext, watched } from './context.ts';
import { reconcileDeployment } from './deployment-controller.ts';
import { addEventHandlers } from './event-handlers.ts';
import { type WorkloadFaultRule, workloadFaults } from './faults.ts';
import { reconcileJob } from './job-controller.ts';
import { reconcilePod } from './pod-controller.ts';
import { reconcileReplicaSet } from './replica-set-controller.ts';
import { defaultTimings, type WorkloadTimings } from './settings.ts';

export interface WorkloadOptions extends SimulatorOptions {
  faults?: readonly WorkloadFaultRule[];
  timings?: Partial<WorkloadTimings>;
}

/**
 * Simulates what a real cluster has of its own for the Deployments and Jobs of workspaces: their controllers, a scheduler, the kubelet of
 * one node and Multus, each as an ordinary client that knows of the others only what stands in the objects. No container runs.
 */
export function startWorkloads(options: WorkloadOptions): Running {
  const { shared, queue, run } = simulator(options, 'kube-controller-manager', watched);
  const context: WorkloadContext = {
    ...shared,
    faults: workloadFaults(options.faults ?? []),
    timings: { ...defaultTimings, ...options.timings },
    times: timeInState(options.clock),
  };
  addEventHandlers(context, {
    deployments: queue((ref) => reconcileDeployment(context, ref)),
    replicaSets: queue((ref) => reconcileReplicaSet(context, ref)),
    jobs: queue((ref) => reconcileJob(context, ref)),
    pods: queue((ref) => reconcilePod(context, ref)),
  });
  return run();
}
