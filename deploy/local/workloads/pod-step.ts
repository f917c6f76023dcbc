import { type Claim, type ContainerStatus, claimsOf } from '../controller/kinds.ts';
import { type Step, soonest } from '../controller/step.ts';
import { eventsFrom, patchOf, statusOf, type Write } from '../controller/write.ts';
import { nextForContainer, type ObservedContainer } from './container-step.ts';
import { conditionOf, isGoing, isOver, Pod } from './kinds.ts';
import { networkStatus, networksOf } from './networks.ts';
import { podIPFor, podStatus, scheduled, terminated, unschedulable, waiting } from './pod-status.ts';
import { choiceOfNode, isBound, nodeName } from './scheduling.ts';

const schedulerEvent = eventsFrom('default-scheduler');
const kubeletEvent = eventsFrom('kubelet');

export interface ObservedPod {
  pod: Pod;
  /** The existing claims that it mounts. */
  claims: Claim[];
  /** Those of them whose class waits until a node is chosen. */
  lateClaims: Claim[];
  /** Another Pod has a port of the node that this one asks for. */
  hasTakenPort: boolean;
  /** How long no node takes it. */
  unschedulableMs: number;
  /** How long it has waited for its node. */
  waitedMs: number;
  /** Why its containers cannot even be tried: a network or something it mounts that is not there. */
  blocked: { reason: 'FailedMount' | 'FailedCreatePodSandBox'; message: string } | undefined;
  /** Whether that was writes already. */
  isBlockReported: boolean;
  containers: ObservedContainer[];
  /** How long it has been asked to go, and how long it takes it; undefined for ever. */
  deletedMs: number;
  graceMs: number | undefined;
  scheduleMs: number;
  pollMs: number;
  nowMs: number;
}

/** The next step of scheduler and kubelet for one Pod: a node, its networks and volumes, its containers, its end. */
export function nextForPod(observed: ObservedPod): Step {
  const { pod } = observed;
  if (isGoing(pod)) return terminate(observed);
  if (isOver(pod)) return { writes: [] };
  return pod.spec.nodeName ? run(observed) : schedule(observed);
}

function terminate({ pod, deletedMs, graceMs, containers, nowMs }: ObservedPod): Step {
  if (graceMs === undefined || !pod.spec.nodeName) return { writes: [] };
  const isAlive = (pod.status?.containerStatuses ?? []).some(({ state }) => state?.running);
  if (isAlive && deletedMs < graceMs) return { writes: [], waitMs: graceMs - deletedMs };
  const { name, namespace, uid } = pod.metadata;
  const gone: Write = { do: 'delete', resource: Pod, ref: { name, namespace }, uid, graceSeconds: 0 };
  // What is asked to end by SIGTERM and does.
  const ended = containers.flatMap(({ before }) => (before ? [stopped(before, nowMs)] : []));
  const status = { ...podStatus(pod, ended, false, nowMs), phase: 'Failed' };
  return { writes: isOver(pod) || ended.length === 0 ? [gone] : [statusOf(Pod, pod, status), gone] };
}

const stopped = (before: ContainerStatus, nowMs: number) =>
  before.state?.terminated ? before : terminated(before, { exitCode: 143 }, nowMs);

function schedule(observed: ObservedPod): Step {
  const { pod, claims, lateClaims, waitedMs, scheduleMs, unschedulableMs, nowMs } = observed;
  const why = obstacle(observed);
  if (why !== undefined) {
    const waitMs = unschedulableMs > 0 ? unschedulableMs : undefined;
    if (conditionOf(pod, 'PodScheduled')?.message === why) return { writes: [], waitMs };
    const event = schedulerEvent(pod, 'Warning', 'FailedScheduling', why);
    return { writes: [statusOf(Pod, pod, unschedulable(pod, why, nowMs)), event], waitMs };
  }
  if (waitedMs < scheduleMs) return { writes: [], waitMs: scheduleMs - waitedMs };
  const choice = choiceOfNode(lateClaims);
  if (choice.length > 0) return { writes: choice };
  if (!claims.every(isBound)) return { writes: [] };
  // A real scheduler writes both at once, to the subresource `binding`.
  return { writes: [patchOf(Pod, pod, { spec: { nodeName } }), statusOf(Pod, pod, scheduled(pod, nowMs))] };
}

const none = '0/1 nodes are available: ';
const unhelpful = 'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';
const noVictims = 'preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.';
// What 1.34 reports in between of resources that no Pod here claims.
const noDevices = 'no new claims to deallocate, ';

/** Why no node takes the Pod, in the words of 1.34's scheduler, the odd end of some included. */
function obstacle({ pod, claims, lateClaims, hasTakenPort, unschedulableMs }: ObservedPod): string | undefined {
  const missing = claimsOf(pod).find((name) => !claims.some(({ metadata }) => metadata.name === name));
  if (missing !== undefined) return `${none}persistentvolumeclaim "${missing}" not found. not found`;
  const going = claims.find(isGoing);
  if (going) return `${none}persistentvolumeclaim "${going.metadata.name}" is being deleted. not found`;
  if (claims.some((claim) => !lateClaims.includes(claim) && !isBound(claim))) {
    return `${none}pod has unbound immediate PersistentVolumeClaims. not found`;
  }
  if (hasTakenPort) {
    return `${none}1 node(s) didn't have free ports for the requested pod ports. ${noDevices}${noVictims}`;
  }
  return unschedulableMs > 0 ? `${none}1 Insufficient cpu. ${noDevices}${unhelpful}` : undefined;
}

function run(observed: ObservedPod): Step {
  const { pod, blocked, containers, isBlockReported, pollMs, nowMs } = observed;
  const isFresh = containers.every(({ before }) => before === undefined || isCreating(before));
  if (isFresh && blocked) {
    const creating = containers.map(
      ({ container, before }) => before ?? waiting(container, before, 'ContainerCreating'),
    );
    const isShown = containers.every(({ before }) => before !== undefined);
    const writes = isBlockReported ? [] : [kubeletEvent(pod, 'Warning', blocked.reason, blocked.message)];
    if (isShown) return { writes, waitMs: pollMs };
    return { writes: [statusOf(Pod, pod, podStatus(pod, creating, false, nowMs)), ...writes] };
  }
  const steps = containers.map((each) => ({ ...nextForContainer(each), each }));
  if (steps.every(({ status }) => status === undefined)) {
    return { writes: [], waitMs: soonest(...steps.map(({ waitMs }) => waitMs)) };
  }
  const statuses = steps.flatMap(({ status, each }) => status ?? each.before ?? []);
  const isStarting = statuses.every(isCreating);
  const events = steps.flatMap(({ event }) =>
    event ? [kubeletEvent(pod, 'Warning', event.reason, event.message)] : [],
  );
  return {
    writes: [
      ...(isFresh && !isStarting ? connected(pod) : []),
      statusOf(Pod, pod, podStatus(pod, statuses, !isStarting, nowMs)),
      ...events,
    ],
  };
}

const isCreating = ({ state }: ContainerStatus) => state?.waiting?.reason === 'ContainerCreating';

/** What Multus reports about a Pod with networks. */
function connected(pod: Pod): Write[] {
  if (networksOf(pod).length === 0) return [];
  const annotations = networkStatus(pod, pod.status?.podIP ?? podIPFor(pod));
  return [patchOf(Pod, pod, { metadata: { annotations } })];
}
