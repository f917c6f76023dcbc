import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { type ContainerStatus, claimsOf } from '../controller/kinds.ts';
import { performStep } from '../controller/step.ts';
import type { Again } from '../controller/work-queue.ts';
import type { ObservedContainer } from './container-step.ts';
import type { WorkloadContext } from './context.ts';
import type { ContainerName, WorkloadFaultMode } from './faults.ts';
import { hasTakenPort } from './host-ports.ts';
import { jobOf } from './job-controller.ts';
import { type Container, isGoing, isOver, type Pod } from './kinds.ts';
import { missingAround, missingIn } from './missing.ts';
import { nextForPod, type ObservedPod } from './pod-step.ts';
import { lateAmong } from './scheduling.ts';
import { defaultScheduler, isSimulated } from './simulated.ts';

/** Simulates scheduler and kubelet for one Pod of a workspace that no other simulator runs. */
export async function reconcilePod(context: WorkloadContext, ref: ObjectReference): Promise<Again> {
  const pod = context.pods.find(ref);
  if (!pod || !isOurs(pod)) return undefined;
  return performStep(context, nextForPod(await observe(context, pod)));
}

export const isOurs = ({ metadata, spec }: Pod) =>
  isSimulated(metadata.namespace) && (spec.schedulerName ?? defaultScheduler) === defaultScheduler;

async function observe(context: WorkloadContext, pod: Pod): Promise<ObservedPod> {
  const { clock, timings, times, storageClasses } = context;
  const { uid, namespace, deletionTimestamp } = pod.metadata;
  const claims = claimsOf(pod).flatMap((name) => context.claims.find({ namespace, name }) ?? []);
  const isStarting = pod.spec.nodeName !== undefined && !isOver(pod) && !isGoing(pod);
  const blocked = isStarting && !hasBegun(pod) ? await missingAround(context, pod) : undefined;
  const containers: ObservedContainer[] = [];
  for (const container of pod.spec.containers) containers.push(await observeContainer(context, pod, container));
  const first = pod.spec.containers[0];
  const inject = <M extends WorkloadFaultMode['mode']>(mode: M) =>
    first && context.faults.inject(uid, nameOf(pod, first), mode);
  const stuck = deletionTimestamp ? inject('stuckTerminating') : undefined;
  const grace = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  const unschedulable = pod.spec.nodeName ? undefined : inject('unschedulable');
  return {
    pod,
    claims,
    lateClaims: lateAmong(claims, storageClasses.objects),
    hasTakenPort: !pod.spec.nodeName && hasTakenPort(pod, context.pods.objects.values()),
    unschedulableMs: unschedulable ? unschedulable.forMs - times.msIn(`${uid} pod`) : 0,
    waitedMs: times.msIn(`${uid} wait`),
    blocked,
    isBlockReported: times.hasSeen(`${uid} blocked`, blocked?.message ?? ''),
    containers,
    deletedMs: times.msIn(`${uid} deleted`, deletionTimestamp ?? ''),
    graceMs: stuck ? stuck.forMs : Math.min(timings.shutdownMs, grace),
    scheduleMs: timings.scheduleMs,
    pollMs: timings.pollMs,
    nowMs: clock.now(),
  };
}

const statusOf = ({ status }: Pod, { name }: Container): ContainerStatus | undefined =>
  status?.containerStatuses?.find((each) => each.name === name);

const hasBegun = ({ status }: Pod) =>
  (status?.containerStatuses ?? []).some(({ state }) => state?.waiting?.reason !== 'ContainerCreating');

const nameOf = ({ metadata }: Pod, { name, image = '' }: Container): ContainerName => ({
  pod: `${metadata.namespace}/${metadata.name}`,
  container: name,
  image,
});

async function observeContainer(context: WorkloadContext, pod: Pod, container: Container): Promise<ObservedContainer> {
  const { clock, timings, times, faults } = context;
  const { name, namespace, uid } = pod.metadata;
  const before = statusOf(pod, container);
  const { waiting, running, terminated } = before?.state ?? {};
  const state = [waiting?.reason, running && 'running', terminated && 'terminated', before?.restartCount].join();
  const stateMs = times.msIn(`${uid} container ${container.name}`, state);
  const who = nameOf(pod, container);
  const isPulled = ['CreateContainerConfigError', 'ErrImagePull', 'CrashLoopBackOff'].includes(waiting?.reason ?? '');
  // Each pull begins a state, so that its beginning tells it from others.
  const pull = `${uid} ${container.name} ${clock.now() - stateMs}`;
  const failedPull = waiting && !isPulled ? faults.inject(pull, who, 'imagePull') : undefined;
  const notReady = faults.inject(`${uid} ${container.name}`, who, 'notReady');
  return {
    container,
    before,
    stateMs,
    restartPolicy: pod.spec.restartPolicy ?? 'Always',
    podInWords: `${name}_${namespace}(${uid})`,
    configError: waiting ? await missingIn(context, pod, container) : undefined,
    pullError: failedPull && (failedPull.message ?? notFound(container.image ?? '')),
    exit: exitOf(context, pod, container, before?.restartCount ?? 0),
    notReadyMs: notReady ? (notReady.forMs ?? Number.POSITIVE_INFINITY) - (running ? stateMs : 0) : 0,
    timings,
    nowMs: clock.now(),
  };
}

const notFound = (image: string) =>
  `rpc error: code = NotFound desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`;

function exitOf({ faults, timings }: WorkloadContext, pod: Pod, container: Container, restarts: number) {
  const { uid } = pod.metadata;
  const who = nameOf(pod, container);
  const isOfJob = jobOf(pod) !== undefined;
  const usualMs = isOfJob ? timings.jobMs : timings.containerMs;
  const fault = faults.inject(`${uid} ${container.name} start ${restarts}`, who, 'exits');
  if (fault) {
    return { exitCode: fault.exitCode ?? 1, message: fault.message, afterMs: fault.afterMs ?? usualMs };
  }
  if (!isOfJob || faults.inject(`${uid} ${container.name}`, who, 'hangs')) return undefined;
  return { exitCode: 0, afterMs: timings.jobMs };
}
