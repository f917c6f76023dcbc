import type { KubeVirtMachine } from '../../shared/resources/kubevirt/virtual-machine.ts';
import type { KubeVirtInstance } from '../../shared/resources/kubevirt/virtual-machine-instance.ts';
import { type Obstacle, trouble, waits } from './observed.ts';

/** How KubeVirt's machine stands: it runs, it is stopped as it should be, or what is in the way. */
export type KubeVirtState = { is: 'running' | 'halted'; message: string } | { is: 'not there yet'; obstacle: Obstacle };

interface Seen {
  machine: KubeVirtMachine;
  instance: KubeVirtInstance | undefined;
  /** It was Ready before. */
  wasReady: boolean;
  /** CDI has not made the claim of the root disk yet. */
  isClaimToCome: boolean;
}

/**
 * printableStatus in our words. None of KubeVirt's error states is the end of anything (kubevirt,
 * pkg/virt-controller/watch/vm/vm.go setPrintableStatus): each is trouble, which makes a machine Failed when it lasts.
 */
export function stateOf({ machine, instance, wasReady, isClaimToCome }: Seen): KubeVirtState {
  const { metadata, spec, status } = machine;
  if (metadata.deletionTimestamp) {
    return notYet(waits('MachineTerminating', 'Waiting until the KubeVirt machine, which is being deleted, is gone.'));
  }
  const { printableStatus = '', ready = false, startFailure } = status ?? {};
  if (printableStatus === 'Running' && ready) return { is: 'running', message: 'The machine runs.' };
  if (wasReady && (printableStatus === 'Migrating' || printableStatus === 'Paused')) {
    return { is: 'running', message: `The machine is ready; KubeVirt says ${printableStatus}.` };
  }
  if (isStopped(printableStatus) && spec?.runStrategy !== 'Always') {
    return { is: 'halted', message: 'The machine is made and not started.' };
  }
  const fails = startFailure?.consecutiveFailCount ?? 0;
  if (fails > 0 || printableStatus === 'CrashLoopBackOff') {
    return notYet(trouble('CrashLoopBackOff', `The machine ended ${fails} times in a row as soon as it had started.`));
  }
  if (printableStatus === 'ErrorPvcNotFound' && isClaimToCome) return notYet(starting);
  const known = troubles[printableStatus];
  if (known) return notYet(trouble(known.reason, `${known.message}${because(machine, instance)}`));
  return notYet(failure(machine, instance) ?? onTheWay(printableStatus, wasReady));
}

const notYet = (obstacle: Obstacle): KubeVirtState => ({ is: 'not there yet', obstacle });

/** One word for all on the way: KubeVirt goes through five, and each would be a write for each machine. */
export const starting = waits('Starting', 'KubeVirt has the machine; it is on its way.');

const isStopped = (printableStatus: string) => printableStatus === 'Stopped' || printableStatus === '';

const troubles: Readonly<Record<string, { reason: string; message: string }>> = {
  ErrorUnschedulable: { reason: 'Unschedulable', message: 'No node takes the machine' },
  DataVolumeError: { reason: 'DataVolumeError', message: 'KubeVirt finds an error in the root disk' },
  ErrorPvcNotFound: { reason: 'ClaimNotFound', message: 'The claim of the root disk is not there' },
  ErrImagePull: { reason: 'ImagePullFailed', message: "KubeVirt's launcher image cannot be pulled" },
  ImagePullBackOff: { reason: 'ImagePullFailed', message: "KubeVirt's launcher image cannot be pulled" },
};

/** What KubeVirt could not make, be it the instance or its Pod (a network that is missing, a quota). */
function failure(machine: KubeVirtMachine, instance: KubeVirtInstance | undefined): Obstacle | undefined {
  const failed = machine.status?.conditions.find(({ type, status }) => type === 'Failure' && status === 'True');
  const unsynchronized = conditionsOf(machine, instance).find(
    ({ type, status, reason }) => type === 'Synchronized' && status === 'False' && reason === 'FailedCreate',
  );
  const found = failed ?? unsynchronized;
  return found && trouble('LaunchFailed', `KubeVirt cannot launch the machine: ${found.message || found.reason}`);
}

/** The words of the Pod's scheduling where there are any. */
function because(machine: KubeVirtMachine, instance: KubeVirtInstance | undefined): string {
  const scheduled = conditionsOf(machine, instance).find(
    ({ type, status }) => type === 'PodScheduled' && status === 'False',
  );
  return scheduled?.message ? `: ${scheduled.message}` : '.';
}

const conditionsOf = (machine: KubeVirtMachine, instance: KubeVirtInstance | undefined) => [
  ...(instance?.status?.conditions ?? []),
  ...(machine.status?.conditions ?? []),
];

function onTheWay(printableStatus: string, wasReady: boolean): Obstacle {
  if (printableStatus === 'Running') {
    const message = 'The guest runs and is not ready.';
    return wasReady ? trouble('GuestNotReady', message) : waits('GuestNotReady', message);
  }
  if (printableStatus === 'Stopping') return waits('Stopping', 'The machine stops.');
  return starting;
}
