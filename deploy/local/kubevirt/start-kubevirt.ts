import { type Running, type SimulatorOptions, simulator } from '../controller/simulator.ts';
import { timeInState } from '../controller/time-in-state.ts';
import { type KubevirtContext, watched } from './context.ts';
import { addEventHandlers } from './event-handlers.ts';
import { type MachineFaultRule, machineFaults } from './faults.ts';
import { reconcileInstance } from './instance-controller.ts';
import { reconcileLauncher } from './launcher-controller.ts';
import { reconcileMachine } from './machine-controller.ts';
import { defaultTimings, type KubevirtTimings } from './settings.ts';

export interface KubevirtOptions extends SimulatorOptions {
  faults?: readonly MachineFaultRule[];
  /** Whether guests have an agent, which alone knows addresses outside the Pod network; true when left out. */
  guestAgent?: boolean;
  timings?: Partial<KubevirtTimings>;
}

/**
 * Simulates KubeVirt: virt-controller for machines and their instances, virt-handler and the node under the launcher Pods, each as an
 * ordinary client that knows the others only through objects. admit.ts refuses what KubeVirt's webhooks refuse; it does not run on a
 * real cluster, where a client cannot.
 */
export function startKubevirt(options: KubevirtOptions): Running {
  const { shared, queue, run } = simulator(options, 'virt-controller', watched);
  const context: KubevirtContext = {
    ...shared,
    guestAgent: options.guestAgent ?? true,
    faults: machineFaults(options.faults ?? []),
    timings: { ...defaultTimings, ...options.timings },
    times: timeInState(options.clock),
  };
  addEventHandlers(context, {
    machines: queue((ref) => reconcileMachine(context, ref)),
    instances: queue((ref) => reconcileInstance(context, ref)),
    launchers: queue((ref) => reconcileLauncher(context, ref)),
  });
  return run();
}
