import type { Action } from '../../shared/actions.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import {
  type MachineCondition,
  type MachinePhase,
  VirtualMachine,
  type VirtualMachineStatus,
} from '../../shared/kinds/pelotech/virtual-machine.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { factsOf, type Reporting, reportStatus, type StatusReport } from '../../shared/kubernetes/status.ts';
import { lasted } from '../../shared/lasted.ts';
import { type ChildStates, conditionsOf, readiness } from './conditions.ts';
import { diskObstacle, isForFirstConsumer } from './disk/root-disk.ts';
import { judge } from './grace-period.ts';
import { startedAt } from './guest/guest.ts';
import { hardwareReasons } from './kubevirt/missing-hardware.ts';
import { type KubeVirtState, starting, stateOf } from './kubevirt/state.ts';
import { givenAddresses, reportedAddresses } from './network/addresses.ts';
import { networkLost, networkReasons } from './network/missing-network.ts';
import type { NewMachineCondition, Observed, Obstacle } from './observed.ts';
import { type Plan, rootDiskIn } from './plan.ts';

const reporting: Reporting<VirtualMachine> = {
  resource: VirtualMachine,
  foreign: 'ImageResolved',
  published: 'virtual-machine',
  measured: ({ metadata }, _, nowMs) => [
    lasted({ metric: 'ot.machine.ready.duration', since: metadata.creationTimestamp, nowMs }),
  ],
};

export const machineFacts = factsOf(reporting);

interface MachineReport extends Omit<StatusReport<MachinePhase, MachineCondition>, 'isReady'> {
  fields: Pick<
    { [K in keyof VirtualMachineStatus]: VirtualMachineStatus[K] | undefined },
    'rootDisk' | 'ipAddress' | 'addresses' | 'fixedAddresses' | 'nodeName' | 'trouble'
  >;
}

/** Writes the state of a machine if its status differs, and reports that it is Ready or Failed. */
export const updateStatus = (machine: VirtualMachine, report: MachineReport, nowMs: number): Action[] =>
  reportStatus(reporting, machine, { ...report, isReady: report.phase === 'Ready' }, nowMs);

/** The status of a machine as it is, with what is made in this reconcile. */
export function report(plan: Plan): Action[] {
  const { own, kubeVirtMachine } = plan;
  const { machine, nowMs, policy, dataVolume, instance } = own;
  const wasReady = machine.status?.readyAt !== undefined;
  const isClaimToCome = dataVolume !== undefined && dataVolume.status?.claimName === undefined;
  const input = {
    ...{ instance, of: machine, wasReady, isClaimToCome, nowMs },
    ...{ settleMs: settleMsOf(own), lost: networkLost(own) },
  };
  const state = kubeVirtMachine ? stateOf({ ...input, machine: kubeVirtMachine }) : stateOfMade(plan);
  const cloning = plan.outdated ?? (dataVolume && diskObstacle(dataVolume));
  const obstacle = obstacleOf(plan, { state, cloning });
  const before = machine.status?.trouble;
  const crashes = kubeVirtMachine?.status?.startFailure?.consecutiveFailCount ?? 0;
  const judged = obstacle
    ? { ...judge(obstacle, { before, policy, nowMs, crashes }), reason: obstacle.reason }
    : { phase: 'Ready' as const, trouble: undefined, ...readiness(state) };
  const isMade = kubeVirtMachine !== undefined || plan.writes.some(({ do: verb }) => verb === 'create');
  const addresses = reportedAddresses(machine, instance);
  const conditions = conditionsOf(plan, { state, cloning });
  const written = updateStatus(
    machine,
    {
      ...judged,
      conditions,
      fields: {
        rootDisk: rootDiskIn(plan),
        ipAddress: addresses?.find(({ ipAddress }) => ipAddress)?.ipAddress,
        addresses,
        fixedAddresses: isMade ? givenAddresses(machine, plan.fault === undefined) : undefined,
        nodeName: state?.is === 'running' ? instance?.status?.nodeName : undefined,
        trouble: judged.trouble,
      },
    },
    nowMs,
  );
  const times = [
    state?.is === 'not there yet' ? state.settlesInMs : undefined,
    'leftMs' in judged ? judged.leftMs : undefined,
    // What is missing sends no events when it comes: check again every ten seconds until the machine is Failed, then at each audit.
    judged.phase === 'Provisioning' && (networkReasons.has(judged.reason) || hardwareReasons.has(judged.reason))
      ? 10_000
      : undefined,
  ].filter((ms) => ms !== undefined);
  const recorded = [...withMade(plan, written), ...(written.length > 0 ? firstAnswer(own, conditions) : [])];
  return times.length > 0
    ? [...recorded, { do: 'requeueAfter', about: machine, afterMs: Math.min(...times) }]
    : recorded;
}

/** A guest that answers for the first time since KubeVirt started it. */
function firstAnswer({ machine, instance, nowMs }: Observed, conditions: readonly NewMachineCondition[]): Action[] {
  const before = conditionOf(machine.status?.conditions, 'GuestReady');
  const now = conditions.find(({ type }) => type === 'GuestReady');
  const since = instance && startedAt(instance);
  const isFirst = before?.status !== 'True' && before?.reason !== 'GuestNotAnswering';
  return now?.status === 'True' && isFirst && since
    ? [lasted({ metric: 'ot.machine.guest.ready.duration', since, nowMs })]
    : [];
}

/** The status that names a new disk records its uid. */
const withMade = ({ disk }: Plan, written: readonly Action[]): Action[] =>
  written.map((action) =>
    disk && action.do === 'patchStatus'
      ? {
          ...action,
          record: { created: { resource: DataVolume, metadata: disk.metadata }, uidAt: ['rootDisk', 'made'] },
        }
      : action,
  );

/** Once one cause is reported, the next one is reported at once, so that the message does not switch back in between. */
const settleMsOf = ({ machine, policy }: Observed) =>
  machine.status?.trouble?.reason === 'LaunchFailed' ? 0 : Math.min(10_000, policy.values.machineFailedAfter);

/** A newly created object is on its way. The next reconcile need not report it again. */
const stateOfMade = ({ own, writes }: Plan): KubeVirtState | undefined =>
  writes.some((action) => action.do === 'create' && action.resource === KubeVirtMachine)
    ? { is: 'not there yet', obstacle: starting(own.machine) }
    : undefined;

/** What is in the way of the machine; undefined where it runs, or is stopped as it should be. */
function obstacleOf({ own, blocker, disk, image }: Plan, { state, cloning }: ChildStates): Obstacle | undefined {
  if (state?.is === 'running') return state.guest?.obstacle;
  if (blocker) return blocker;
  const { dataVolume } = own;
  if (!dataVolume && !disk && 'obstacle' in image) return image.obstacle;
  // CDI clones for the first consumer, and a stopped machine consumes nothing.
  if (state?.is === 'halted' && dataVolume) return isForFirstConsumer(dataVolume) ? undefined : cloning;
  const found = [cloning, state?.is === 'not there yet' ? state.obstacle : starting(own.machine)].filter(
    (one) => one !== undefined,
  );
  const order = ['final', 'trouble', 'waits', 'step'] as const;
  return order.map((weight) => found.find((one) => one.weight === weight)).find((one) => one !== undefined);
}
