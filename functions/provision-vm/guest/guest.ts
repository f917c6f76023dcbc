import type { KubeVirtInstance } from '../../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import type { Readiness, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { parseDurationMs } from '../../../shared/kubernetes/duration.ts';
import { isNotSo, isSo } from '../../../shared/kubernetes/status.ts';
import { repeated } from '../../../shared/reasons/reason.ts';
import { type NewMachineCondition, type Obstacle, step, trouble } from '../observed.ts';

/** Seconds between two checks, and the seconds that one may take. */
const periodSeconds = 10;
const timeoutSeconds = 5;

/**
 * The probes of a machine that asks for them, in KubeVirt's words (kubevirt, user-guide liveness_and_readiness_probes.md). A liveness probe stops
 * the instance, so that KubeVirt starts another; it begins once the guest has had its time to boot.
 */
export function probesOf({ spec: { readiness } }: VirtualMachine) {
  if (!readiness) return {};
  const { tcp, failureThreshold, onFailure } = readiness;
  const asks = tcp === undefined ? { guestAgentPing: {} } : { tcpSocket: { port: tcp } };
  const probe = { ...asks, periodSeconds, timeoutSeconds, failureThreshold };
  const initialDelaySeconds = Math.round(timeoutMsOf(readiness) / 1000);
  return {
    readinessProbe: probe,
    ...(onFailure === 'Restart' ? { livenessProbe: { ...probe, initialDelaySeconds } } : {}),
  };
}

const timeoutMsOf = ({ timeout }: Readiness) => parseDurationMs(timeout) ?? 0;

/** What a guest answers; `obstacle` if that keeps its machine from being Ready. */
export interface Guest {
  condition: NewMachineCondition;
  obstacle?: Obstacle;
}

/**
 * The guest of a machine that KubeVirt runs, if the spec asks for it. Only KubeVirt's probe tells: AgentConnected says that the agent
 * opened its channel once, and stays while it hangs.
 */
export function guestOf(
  machine: VirtualMachine,
  { instance, isReady }: { instance: KubeVirtInstance | undefined; isReady: boolean },
): Guest | undefined {
  const { readiness } = machine.spec;
  if (!readiness) return undefined;
  if (!instance?.spec?.readinessProbe) return { condition: unchecked };
  const { tcp } = readiness;
  const who = tcp === undefined ? 'guest agent' : `port ${tcp}`;
  if (isReady) return { condition: isSo(type, 'GuestAnswers', `Its ${who} answers.`) };
  const before = conditionOf(machine.status?.conditions, type);
  const { namespace, name } = machine.metadata;
  const look = ['Look at its console: virtctl console', name, '-n', `${namespace}.`].join(' ');
  const missing = tcp === undefined ? 'runs no qemu-guest-agent' : `takes no connections at port ${tcp}`;
  const found =
    before?.status === 'True' || before?.reason === 'GuestNotAnswering'
      ? trouble('GuestNotAnswering', `The machine runs, and its ${who} no longer answers. ${look}`)
      : step(
          'GuestStarting',
          `The machine runs, and its ${who} has not answered yet.`,
          `Its disk may hold nothing that boots, or its guest ${missing}. ${look}`,
        );
  return {
    condition: isNotSo(type, found.reason, found.message),
    obstacle: { ...found, limitMs: timeoutMsOf(readiness) },
  };
}

/** The guest of a machine that KubeVirt pauses or moves: KubeVirt reports nothing of it then, and the earlier report stays. */
export function guestBefore(machine: VirtualMachine, instance: KubeVirtInstance | undefined): Guest | undefined {
  const before = conditionOf(machine.status?.conditions, type);
  if (!machine.spec.readiness || !before) return undefined;
  const reason = repeated(before.reason);
  return reason === 'GuestStarting' || reason === 'GuestNotAnswering'
    ? guestOf(machine, { instance, isReady: false })
    : { condition: { ...before, type, reason } };
}

/**
 * KubeVirt's Pod is unready for nothing but its probe: KubeVirt repeats the Pod's condition (kubevirt, pkg/virt-controller/watch/vmi/lifecycle.go
 * syncReadyConditionFromPod), whose word this is (kubernetes, pkg/kubelet/status/generate.go).
 */
export const isProbed = (instance: KubeVirtInstance | undefined) =>
  instance?.spec?.readinessProbe !== undefined &&
  conditionOf(instance.status?.conditions, 'Ready')?.reason === 'ContainersNotReady';

const type = 'GuestReady';
const unchecked: NewMachineCondition = {
  type,
  status: 'Unknown',
  reason: 'GuestNotChecked',
  message: 'What runs was started before its guest was to be checked; restart the machine to have it checked.',
};

/** When KubeVirt last reported that the guest was started, if it did. */
export const startedAt = ({ status }: KubeVirtInstance): string | undefined =>
  status?.phaseTransitionTimestamps.findLast(({ phase }) => phase === 'Running')?.phaseTransitionTimestamp;
