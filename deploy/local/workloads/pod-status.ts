import { createHash } from 'node:crypto';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import { transitionTime } from '../controller/conditions.ts';
import type { Condition, ContainerStatus } from '../controller/kinds.ts';
import type { Container, Pod, PodStatus } from './kinds.ts';

/** The node that all Pods of workspaces are on, and its address. */
const hostIP = '172.30.0.1';

/** An address in the cluster's own network, the same for the same Pod. */
export function podIPFor({ metadata }: Pod): string {
  const [a = 0, b = 0, c = 0] = createHash('sha256').update(metadata.uid).digest();
  return `10.${244 + (a % 4)}.${b}.${1 + (c % 254)}`;
}

/** The contents of a condition of a Pod, without its times. */
interface Contents {
  type: string;
  status: boolean;
  reason?: string;
  message?: string;
}

/** Conditions with these among them: the time moves with the status. */
function withPodConditions(before: readonly Condition[], contents: readonly Contents[], nowMs: number): Condition[] {
  const next = contents.map(({ type, status, reason, message }): Condition => {
    const text = status ? 'True' : 'False';
    return {
      type,
      status: text,
      lastTransitionTime: transitionTime(conditionOf(before, type), text, nowMs),
      ...(reason ? { reason } : {}),
      ...(message ? { message } : {}),
    };
  });
  return [...next, ...before.filter(({ type }) => !next.some((condition) => condition.type === type))];
}

/** A Pod for which there is no node, and why. */
export const unschedulable = ({ status }: Pod, message: string, nowMs: number): PodStatus => ({
  phase: 'Pending',
  conditions: withPodConditions(
    status?.conditions ?? [],
    [{ type: 'PodScheduled', status: false, reason: 'Unschedulable', message }],
    nowMs,
  ),
});

/** A Pod that has its node. */
export const scheduled = ({ status }: Pod, nowMs: number): PodStatus => ({
  phase: 'Pending',
  conditions: withPodConditions(status?.conditions ?? [], [{ type: 'PodScheduled', status: true }], nowMs),
});

/** The status of a Pod as the kubelet reports it, from its containers. `hasSandbox` says whether its networks are ready. */
export function podStatus(pod: Pod, containers: ContainerStatus[], hasSandbox: boolean, nowMs: number): PodStatus {
  const { status: before = {} } = pod;
  const phase = phaseOf(pod, containers);
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const unready = containers.filter(({ ready }) => !ready).map(({ name }) => name);
  const why = isOver
    ? { reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed' }
    : { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
  const ready = (type: string): Contents => ({
    type,
    status: unready.length === 0,
    ...(unready.length > 0 ? why : {}),
  });
  const podIP = before.podIP ?? podIPFor(pod);
  return {
    phase,
    conditions: withPodConditions(
      before.conditions ?? [],
      [
        { type: 'PodReadyToStartContainers', status: hasSandbox && !isOver },
        { type: 'Initialized', status: true, ...(phase === 'Succeeded' ? { reason: 'PodCompleted' } : {}) },
        ready('Ready'),
        ready('ContainersReady'),
        { type: 'PodScheduled', status: true },
      ],
      nowMs,
    ),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(hasSandbox ? { podIP, podIPs: [{ ip: podIP }] } : {}),
    startTime: before.startTime ?? toTime(nowMs),
    containerStatuses: containers,
  };
}

function phaseOf({ spec }: Pod, containers: readonly ContainerStatus[]): string {
  const endsWith = ({ state }: ContainerStatus) => state?.terminated?.exitCode;
  const hasEnded = containers.every((each) => endsWith(each) !== undefined);
  const isGood = containers.every((each) => endsWith(each) === 0);
  if (hasEnded && isGood && spec.restartPolicy !== 'Always') return 'Succeeded';
  if (hasEnded && spec.restartPolicy === 'Never') return 'Failed';
  const isFirst = ({ state, lastState }: ContainerStatus) => state?.waiting !== undefined && !lastState?.terminated;
  return containers.some(isFirst) ? 'Pending' : 'Running';
}

/** A container that waits, for the first time or once more. */
export const waiting = (
  { name, image = '' }: Container,
  before: ContainerStatus | undefined,
  reason: string,
  message?: string,
): ContainerStatus => ({
  name,
  state: { waiting: { reason, ...(message ? { message } : {}) } },
  ...lastOf(before),
  ready: false,
  restartCount: before?.restartCount ?? 0,
  image,
  imageID: '',
  started: false,
});

export function running(
  { name, image = '' }: Container,
  before: ContainerStatus | undefined,
  nowMs: number,
  ready = true,
): ContainerStatus {
  const isAgain = before?.state?.terminated !== undefined || before?.lastState?.terminated !== undefined;
  return {
    name,
    state: { running: { startedAt: toTime(nowMs) } },
    ...lastOf(before),
    ready,
    restartCount: (before?.restartCount ?? 0) + (isAgain ? 1 : 0),
    image,
    imageID: imageIdFor(image),
    containerID: containerIdFor(name, image, nowMs),
    started: true,
  };
}

export interface Exit {
  exitCode: number;
  message?: string | undefined;
}

export function terminated(before: ContainerStatus, { exitCode, message }: Exit, nowMs: number): ContainerStatus {
  const { containerID } = before;
  return {
    ...before,
    state: {
      terminated: {
        exitCode,
        reason: exitCode === 0 ? 'Completed' : 'Error',
        ...(message ? { message } : {}),
        startedAt: before.state?.running?.startedAt ?? toTime(nowMs),
        finishedAt: toTime(nowMs),
        ...(containerID ? { containerID } : {}),
      },
    },
    ready: false,
    started: false,
  };
}

/** How it ended last stays to be seen while it waits and after it started again. */
function lastOf(before: ContainerStatus | undefined): Pick<ContainerStatus, 'lastState'> {
  const terminated = before?.state?.terminated;
  if (terminated) return { lastState: { terminated } };
  return before?.lastState ? { lastState: before.lastState } : {};
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

const imageIdFor = (image: string) => `${image.replace(/(?<=\/[^/]*):[^:/]*$|@.*$/, '')}@sha256:${digest(image)}`;

const containerIdFor = (...parts: (string | number)[]) => `containerd://${digest(parts.join())}`;
