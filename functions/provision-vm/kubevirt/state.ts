import type { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import type { KubeVirtInstance } from '../../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import type { ForeignCondition } from '../../../shared/kinds/schema.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import type { Cause } from '../../../shared/reasons/reason.ts';
import { oneLine } from '../../../shared/sentence.ts';
import { type Guest, guestBefore, guestOf, isProbed } from '../guest/guest.ts';
import { type Obstacle, step, trouble } from '../observed.ts';

/** The state of KubeVirt's machine: it runs, it is stopped as the spec says, or an obstacle. */
export type KubeVirtState =
  | { is: 'running'; message: string; guest?: Guest | undefined }
  | { is: 'halted'; message: string }
  | {
      is: 'not there yet';
      obstacle: Obstacle;
      /** KubeVirt has just reported a cause. It is reported here if it lasts this much longer. */
      settlesInMs?: number | undefined;
    };

interface Input {
  nowMs: number;
  /** How long an error of KubeVirt is ignored: a normal start shows some, too. */
  settleMs: number;
  machine: KubeVirtMachine;
  instance: KubeVirtInstance | undefined;
  /** Our machine, whose spec says how its guest is checked. */
  of: VirtualMachine;
  /** It was Ready before. */
  wasReady: boolean;
  /** CDI has not made the claim of the root disk yet. */
  isClaimToCome: boolean;
  /** What the machine needs to run and no longer exists. KubeVirt does not check it. */
  lost: Obstacle | undefined;
}

/**
 * printableStatus in our words. None of KubeVirt's error states is the end of anything (kubevirt,
 * pkg/virt-controller/watch/vm/vm.go setPrintableStatus): each is trouble, which makes a machine Failed when it lasts.
 */
export function stateOf(input: Input): KubeVirtState {
  const { machine, isClaimToCome, lost } = input;
  const { metadata, spec, status } = machine;
  if (metadata.deletionTimestamp) {
    const message = 'Waiting until the KubeVirt machine, which is being deleted, is gone.';
    return notYet(step('MachineTerminating', message, `See ${describe('vm.kubevirt.io', machine)}.`));
  }
  const { printableStatus = '', startFailure } = status ?? {};
  const running = runningOf(input);
  if (running) return running;
  if (isStopped(printableStatus) && spec?.runStrategy !== 'Always') {
    return { is: 'halted', message: 'The machine is stopped.' };
  }
  if (lost) return notYet(lost);
  const unsynchronized = unsynchronizedOf(input);
  const fails = startFailure?.consecutiveFailCount ?? 0;
  if (fails > 0 || printableStatus === 'CrashLoopBackOff') {
    return notYet(trouble('CrashLoopBackOff', `${ended(fails)}${wordsOf(unsynchronized)}`));
  }
  if (printableStatus === 'ErrorPvcNotFound' && isClaimToCome) return notYet(starting(machine));
  const known = troubleOf(printableStatus, input);
  if (known) return notYet(known);
  const failed = machine.status?.conditions.find(({ type, status }) => type === 'Failure' && status === 'True');
  const settlesInMs = failed ? 0 : leftToSettle(unsynchronized, input);
  const cause = settlesInMs > 0 ? undefined : (failed ?? unsynchronized);
  return notYet(onTheWay(input, cause), settlesInMs || undefined);
}

function runningOf({ machine, instance, of, wasReady }: Input): KubeVirtState | undefined {
  const { printableStatus, ready: isReady = false } = machine.status ?? {};
  if (printableStatus === 'Running' && (isReady || isProbed(instance))) {
    return { is: 'running', message: 'The machine runs.', guest: guestOf(of, { instance, isReady }) };
  }
  return wasReady && (printableStatus === 'Migrating' || printableStatus === 'Paused')
    ? {
        is: 'running',
        message: `The machine is ready; KubeVirt says ${printableStatus}.`,
        guest: guestBefore(of, instance),
      }
    : undefined;
}

const ended = (times: number) =>
  `The machine ended${times > 1 ? ` ${times} times in a row` : ''} as soon as it had started`;

const notYet = (obstacle: Obstacle, settlesInMs?: number): KubeVirtState => ({
  is: 'not there yet',
  obstacle,
  settlesInMs,
});

/** One word for all on the way: KubeVirt goes through five, and each would be a write for each machine. */
export const starting = (machine: Named) =>
  step('Starting', 'KubeVirt has the machine; it is on its way.', seeAlso(machine));

type Named = { metadata: ObjectReference };

const describe = (kind: string, { metadata }: Named) =>
  `kubectl describe ${kind} ${metadata.name} -n ${metadata.namespace}`;

/** The Pod's Events explain what KubeVirt does not report about a Pod that does not start. */
export const seeAlso = (machine: Named) => `See ${describe('vmi', machine)}, and the Events of its virt-launcher Pod.`;

const isStopped = (printableStatus: string) => printableStatus === 'Stopped' || printableStatus === '';

const claimNotFound: Cause = { reason: 'ClaimNotFound', message: 'The claim of the root disk is not there' };
const imagePullFailed: Cause = { reason: 'ImagePullFailed', message: "KubeVirt's launcher image cannot be pulled" };

/** By printableStatus, and by the reason of the condition Synchronized from which KubeVirt derives it a moment later. */
const troubles: Readonly<Record<string, Cause>> = {
  ErrorUnschedulable: { reason: 'Unschedulable', message: 'No node takes the machine' },
  DataVolumeError: { reason: 'DataVolumeError', message: 'KubeVirt finds an error in the root disk' },
  ErrorPvcNotFound: claimNotFound,
  FailedPvcNotFound: claimNotFound,
  ErrImagePull: imagePullFailed,
  ImagePullBackOff: imagePullFailed,
};

function troubleOf(status: string, { machine, instance }: Input): Obstacle | undefined {
  const known = troubles[status];
  return known && trouble(known.reason, `${known.message}${because(machine, instance)}`);
}

/**
 * KubeVirt cannot create the Pod or start the guest in it, for whatever reason (kubevirt, pkg/controller/conditions.go
 * CheckFailure). The machine copies the condition of its instance, and keeps it after the instance has ended.
 */
function unsynchronizedOf({ machine, instance, isClaimToCome }: Input): ForeignCondition | undefined {
  const found = conditionOf((instance ?? machine).status?.conditions, 'Synchronized');
  if (found?.status !== 'False') return undefined;
  return isClaimToCome && found.reason === 'FailedPvcNotFound' ? undefined : found;
}

function leftToSettle(cause: ForeignCondition | undefined, { nowMs, settleMs }: Input): number {
  const sinceMs = Date.parse(cause?.lastTransitionTime ?? '');
  return Number.isNaN(sinceMs) ? 0 : Math.max(0, sinceMs + settleMs - nowMs);
}

/** KubeVirt's message of a cause, as the end of a sentence, on one line: a message of libvirt may have several. */
const wordsOf = (cause: ForeignCondition | undefined) => (cause ? `: ${oneLine(cause.message || cause.reason)}` : '.');

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

function onTheWay(input: Input, cause: ForeignCondition | undefined): Obstacle {
  const { machine, wasReady } = input;
  const { printableStatus } = machine.status ?? {};
  if (printableStatus === 'Running') {
    const message = `The guest runs and is not ready${wordsOf(cause)}`;
    return wasReady || cause ? trouble('GuestNotReady', message) : step('GuestNotReady', message, seeAlso(machine));
  }
  if (cause)
    return (
      troubleOf(cause.reason, input) ?? trouble('LaunchFailed', `KubeVirt cannot launch the machine${wordsOf(cause)}`)
    );
  if (printableStatus === 'Stopping') return step('Stopping', 'The machine stops.', seeAlso(machine));
  return starting(machine);
}
