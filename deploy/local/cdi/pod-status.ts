import { toTime } from '../../../shared/kubernetes/time.ts';
import { podConditions, unschedulable as withoutNode } from '../controller/conditions.ts';
import type { ContainerState, ContainerStatus, Pod } from '../controller/kinds.ts';

type PodStatus = NonNullable<Pod['status']>;

export const unschedulable = (nowMs: number) =>
  withoutNode(
    '0/3 nodes are available: 3 Insufficient memory. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.',
    nowMs,
  );

const withContainer = (
  pod: Pod,
  phase: string,
  change: { state: ContainerState; lastState?: ContainerState; restartCount?: number },
  nowMs: number,
): PodStatus => {
  const before = pod.status?.containerStatuses[0];
  const ready = change.state.running !== undefined;
  const status: ContainerStatus = {
    name: pod.spec.containers[0]?.name ?? 'importer',
    image: pod.spec.containers[0]?.image ?? '',
    imageID: '',
    restartCount: before?.restartCount ?? 0,
    ...(before?.lastState ? { lastState: before.lastState } : {}),
    ...change,
    ready,
    started: ready,
  };
  return { phase, conditions: podConditions(ready, nowMs), containerStatuses: [status] };
};

/** A container that has not started yet, and why. */
export const waiting = (pod: Pod, reason: string, message: string | undefined, nowMs: number) =>
  withContainer(pod, 'Pending', { state: { waiting: { reason, ...(message ? { message } : {}) } } }, nowMs);

/** A container that runs, for the first time or once more. */
export function running(pod: Pod, nowMs: number): PodStatus {
  const before = pod.status?.containerStatuses[0];
  const restarts =
    before?.state?.waiting?.reason === 'CrashLoopBackOff' || before?.state?.terminated || before?.state?.running;
  const ended = before?.state?.terminated;
  return withContainer(
    pod,
    'Running',
    {
      state: { running: { startedAt: toTime(nowMs) } },
      restartCount: (before?.restartCount ?? 0) + (restarts ? 1 : 0),
      ...(ended ? { lastState: { terminated: ended } } : {}),
    },
    nowMs,
  );
}

export interface Termination {
  exitCode: number;
  reason: string;
  message?: string | undefined;
}

/** An ended container. The kubelet reports the phase of its Pod later, if the Pod ends at all. */
export const terminated = (pod: Pod, { exitCode, reason, message }: Termination, startedMs: number, nowMs: number) =>
  withContainer(
    pod,
    pod.status?.phase ?? 'Pending',
    {
      state: {
        terminated: {
          exitCode,
          reason,
          ...(message ? { message } : {}),
          startedAt: toTime(startedMs),
          finishedAt: toTime(nowMs),
        },
      },
    },
    nowMs,
  );

/** A pod that ends as its container has ended. */
export const over = (pod: Pod, nowMs: number): PodStatus => {
  const state = pod.status?.containerStatuses[0]?.state ?? {};
  const { lastState: _, ...container } = pod.status?.containerStatuses[0] ?? { name: 'importer' };
  const phase = state.terminated?.exitCode === 0 ? 'Succeeded' : 'Failed';
  return {
    phase,
    conditions: podConditions(false, nowMs, phase === 'Failed' ? 'PodFailed' : 'PodCompleted'),
    containerStatuses: [{ ...container, state } as ContainerStatus],
  };
};

const killed: Termination = {
  exitCode: 2,
  reason: 'Error',
  // An importer that is killed writes no message: the kubelet uses the end of its log instead.
  message:
    'I1124 07:43:53.315911       1 importer.go:108] Starting importer\nI1124 07:43:53.317961       1 importer.go:183] begin import process\n',
};

const neverStarted: Termination = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
};

/** The last status of a Pod that is being deleted, whose container ended `by` itself or ends now; undefined if it was written already. */
export function ended(pod: Pod, by: Termination | undefined, nowMs: number): PodStatus | undefined {
  const { phase = 'Pending', containerStatuses = [] } = pod.status ?? {};
  const state = containerStatuses[0]?.state;
  if (!state || !['Pending', 'Running'].includes(phase)) return undefined;
  if (state.terminated) return over(pod, nowMs);
  const before = containerStatuses[0]?.lastState?.terminated;
  const last = by ?? (state.running ? killed : (before ?? neverStarted));
  return over(
    { ...pod, status: terminated(pod, last, Date.parse(state.running?.startedAt ?? '') || nowMs, nowMs) },
    nowMs,
  );
}

/** The termination of a container that was killed from outside (SIGKILL). */
export const killedHard: Termination = { ...killed, exitCode: 137 };

/** A container that waits for its next start. */
export function crashLooping(pod: Pod, backOffMs: number, nowMs: number): PodStatus {
  const { name, namespace, uid } = pod.metadata;
  const ended = pod.status?.containerStatuses[0]?.state?.terminated;
  const message = `back-off ${goDuration(backOffMs)} restarting failed container=importer pod=${name}_${namespace}(${uid})`;
  return withContainer(
    pod,
    'Running',
    {
      state: { waiting: { reason: 'CrashLoopBackOff', message } },
      ...(ended ? { lastState: { terminated: ended } } : {}),
    },
    nowMs,
  );
}

/** A pod that the kubelet has thrown off its node. */
export function evicted(pod: Pod, startedMs: number, nowMs: number): PodStatus {
  const message = 'The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 512Mi. ';
  const end = { exitCode: 137, reason: 'ContainerStatusUnknown', message };
  return { ...terminated(pod, end, startedMs, nowMs), phase: 'Failed', reason: 'Evicted', message };
}

/** A duration as Go writes it: `10s`, `2m40s`. */
export const goDuration = (milliseconds: number) => {
  if (milliseconds < 1000) return `${Math.round(milliseconds)}ms`;
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
};
