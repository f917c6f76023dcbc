import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import { podConditions, unschedulable as withoutNode } from '../controller/conditions.ts';
import type { ContainerState, Pod } from '../controller/kinds.ts';

/** A launcher for which there is no node. */
export const unschedulable = (nowMs: number) =>
  withoutNode(
    '0/3 nodes are available: 3 Insufficient devices.kubevirt.io/kvm. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
    nowMs,
  );

const withContainer = (pod: Pod, phase: string, state: ContainerState, nowMs: number, readyReason = '') => {
  const isReady = state.running !== undefined && readyReason === '';
  const message = readyReason === unready ? 'containers with unready status: [compute]' : undefined;
  return {
    phase,
    conditions: podConditions(isReady, nowMs, readyReason || undefined, message),
    containerStatuses: [
      {
        name: 'compute',
        image: pod.spec.containers[0]?.image ?? '',
        imageID: '',
        restartCount: 0,
        ready: isReady,
        started: state.running !== undefined,
        state,
      },
    ],
  };
};

/** A launcher whose container has not started yet, and why. */
export const waiting = (pod: Pod, reason: string, message: string | undefined, nowMs: number) =>
  withContainer(pod, 'Pending', { waiting: { reason, ...(message ? { message } : {}) } }, nowMs);

/** What the kubelet says of a Pod whose container its probe does not find ready. */
const unready = 'ContainersNotReady';

/** A launcher whose container runs, and whether its readiness probe has found the guest ready. */
export const running = (pod: Pod, isReady: boolean, nowMs: number) =>
  withContainer(pod, 'Running', { running: { startedAt: toTime(nowMs) } }, nowMs, isReady ? '' : unready);

/** A launcher without a status since its node was lost. */
export const unheard = (pod: Pod, nowMs: number) =>
  withContainer(pod, 'Running', { running: { startedAt: toTime(nowMs) } }, nowMs, lost);

const lost = 'NodeNotReady';

export const isUnheard = (pod: Pod) => readyConditionOf(pod)?.reason === lost;

/** A launcher whose guest has finally stopped: by itself, or by a failure. */
export const ended = (pod: Pod, exitCode: number, nowMs: number) =>
  withContainer(
    pod,
    exitCode === 0 ? 'Succeeded' : 'Failed',
    { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', message: '' } },
    nowMs,
  );

export const waitingReason = ({ status }: Pod) => status?.containerStatuses[0]?.state?.waiting;

export const isScheduled = ({ status }: Pod) => conditionOf(status?.conditions, 'PodScheduled')?.status === 'True';

export const readyConditionOf = ({ status }: Pod) => conditionOf(status?.conditions, 'Ready');

export const isReady = (pod: Pod) => readyConditionOf(pod)?.status === 'True';

/** What virt-controller asks before it hands a launcher to virt-handler: a probe may hold back Ready (kubevirt, pkg/controller IsPodReady). */
export const isStarted = ({ status }: Pod) => status?.containerStatuses[0]?.state?.running !== undefined;

export const isDown = ({ status }: Pod) => ['Succeeded', 'Failed'].includes(status?.phase ?? '');
