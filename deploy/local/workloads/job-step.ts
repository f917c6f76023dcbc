import { toTime } from '../../../shared/kubernetes/time.ts';
import type { Condition } from '../controller/kinds.ts';
import { statusPatch } from '../controller/status-patch.ts';
import { type Step, soonest } from '../controller/step.ts';
import { deletionOf, eventsFrom, statusOf, type Write, withoutFinalizer } from '../controller/write.ts';
import { isGoing, isOver, isReady, isTrue, Job, type JobStatus, jobTracking, Pod, positive } from './kinds.ts';
import { newPod } from './new-pod.ts';

export interface ObservedJob {
  job: Job;
  /** Its Pods, those on their way out too. */
  pods: Pod[];
  /** How long it has run, may run, and has been finished. */
  activeMs: number;
  deadlineMs: number | undefined;
  finishedMs: number;
  keptMs: number | undefined;
  /** How long since a Pod of it failed last, and how long the next one waits after that. */
  sinceFailureMs: number;
  backOffMs: number;
  nowMs: number;
}

interface Verdict {
  type: 'Complete' | 'Failed';
  reason: string;
  message: string;
}

/** The next step of the Job controller (kubernetes pkg/controller/job/job_controller.go): its Pods are made, counted, let go. */
export function nextForJob(observed: ObservedJob): Step {
  const { job, pods } = observed;
  if (isGoing(job)) return { writes: pods.flatMap(released) };
  if (isTrue(job, 'Complete') || isTrue(job, 'Failed')) return afterwards(observed);
  const counted = count(observed);
  const verdict = verdictOn(observed, counted);
  const active = pods.filter((pod) => !isGoing(pod) && !isOver(pod));
  if (verdict) return finish(observed, counted, verdict, active);
  return run(observed, counted, active);
}

const released = (pod: Pod): Write[] =>
  pod.metadata.finalizers?.includes(jobTracking) ? [withoutFinalizer(Pod, pod, jobTracking)] : [];

/** How a Job stands: what its status is to say, and how many Pods have come to which end, counted there yet or not. */
interface Count {
  status: JobStatus;
  succeeded: number;
  failed: number;
}

/**
 * Every ended Pod counts once. Its finalizer stays until the status has its uid; after that, the count replaces the uid. A
 * terminating Pod has failed.
 */
function count({ job, pods, nowMs }: ObservedJob): Count {
  const { status = {} } = job;
  const isHeld = (uid: string) =>
    pods.some(({ metadata }) => metadata.uid === uid && metadata.finalizers?.includes(jobTracking));
  const tally = (field: 'succeeded' | 'failed', isSo: (pod: Pod) => boolean) => {
    const listed = status.uncountedTerminatedPods?.[field] ?? [];
    const uids = pods.filter((pod) => isSo(pod) && isHeld(pod.metadata.uid)).map(({ metadata }) => metadata.uid);
    const settled = (status[field] ?? 0) + listed.filter((uid) => !isHeld(uid)).length;
    return { settled, uids, all: settled + uids.length };
  };
  const hasSucceeded = (pod: Pod) => pod.status?.phase === 'Succeeded';
  const succeeded = tally('succeeded', hasSucceeded);
  const failed = tally('failed', (pod) => !hasSucceeded(pod) && (isOver(pod) || isGoing(pod)));
  const active = pods.filter((pod) => !isOver(pod) && !isGoing(pod));
  return {
    succeeded: succeeded.all,
    failed: failed.all,
    status: {
      startTime: status.startTime ?? toTime(nowMs),
      active: positive(active.length),
      ready: active.filter(isReady).length,
      terminating: pods.filter((pod) => isGoing(pod) && !isOver(pod)).length,
      succeeded: positive(succeeded.settled),
      failed: positive(failed.settled),
      uncountedTerminatedPods: {
        ...(succeeded.uids.length > 0 ? { succeeded: succeeded.uids } : {}),
        ...(failed.uids.length > 0 ? { failed: failed.uids } : {}),
      },
      conditions: status.conditions,
    },
  };
}

/** The Pods that stand in the status by their uid. */
function countedPods({ job, pods }: ObservedJob): Pod[] {
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {};
  return pods.filter(({ metadata }) => [...succeeded, ...failed].includes(metadata.uid));
}

/** What the Job has come to, as its status says or as its Pods stand now. */
function verdictOn({ job, pods, activeMs, deadlineMs }: ObservedJob, counted: Count): Verdict | undefined {
  const found = counted.status.conditions?.find(
    ({ type }) => type === 'FailureTarget' || type === 'SuccessCriteriaMet',
  );
  if (found) {
    const { reason = '', message = '' } = found;
    return { type: found.type === 'FailureTarget' ? 'Failed' : 'Complete', reason, message };
  }
  const { completions = 1, backoffLimit } = job.spec;
  // Where containers start again in their Pod, that is a try as well.
  const restarts = pods
    .filter((pod) => !isOver(pod))
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .reduce((total, { restartCount }) => total + restartCount, 0);
  const isSpent = counted.failed > backoffLimit || (restarts > 0 && restarts >= backoffLimit);
  if (isSpent) {
    return failed('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  if (deadlineMs !== undefined && job.status?.startTime !== undefined && activeMs >= deadlineMs) {
    return failed('DeadlineExceeded', 'Job was active longer than specified deadline');
  }
  if (counted.succeeded < completions) return undefined;
  return { type: 'Complete', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' };
}

const failed = (reason: string, message: string): Verdict => ({ type: 'Failed', reason, message });

/** The result is set immediately as an interim condition, and finally when no Pod is left that runs or is not counted. */
function finish(observed: ObservedJob, counted: Count, verdict: Verdict, active: readonly Pod[]): Step {
  const { job, pods, nowMs } = observed;
  const { type, reason, message } = verdict;
  const conditions = [...(counted.status.conditions ?? [])];
  const add = (kind: string) => {
    if (conditions.some((condition) => condition.type === kind)) return;
    conditions.push(jobCondition(kind, reason, message, nowMs));
  };
  add(type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget');
  const interim = say(job, { ...counted.status, conditions });
  if (interim.length > 0) return { writes: [...interim, ...active.map((pod) => deletionOf(Pod, pod))] };
  const going = [...active.map((pod) => deletionOf(Pod, pod)), ...countedPods(observed).flatMap(released)];
  if (going.length > 0) return { writes: going };
  if (pods.some((pod) => !isOver(pod))) return { writes: [] };
  add(type);
  const completionTime = type === 'Complete' ? { completionTime: toTime(nowMs) } : {};
  return { writes: [...say(job, { ...counted.status, ...completionTime, conditions }), eventOf(job, verdict)] };
}

const jobCondition = (type: string, reason: string, message: string, nowMs: number): Condition => ({
  type,
  status: 'True',
  lastProbeTime: toTime(nowMs),
  lastTransitionTime: toTime(nowMs),
  reason,
  message,
});

const eventOn = eventsFrom('job-controller');

const eventOf = (job: Job, { type, reason, message }: Verdict): Write =>
  type === 'Complete' ? eventOn(job, 'Normal', 'Completed', 'Job completed') : eventOn(job, 'Warning', reason, message);

function run(observed: ObservedJob, counted: Count, active: readonly Pod[]): Step {
  const { job, activeMs, deadlineMs, sinceFailureMs, backOffMs } = observed;
  const writes = say(job, counted.status);
  if (writes.length > 0) return { writes };
  const going = countedPods(observed).flatMap(released);
  if (going.length > 0) return { writes: going };
  const leftMs = deadlineMs === undefined ? undefined : deadlineMs - activeMs;
  if (job.spec.suspend) return { writes: active.map((pod) => deletionOf(Pod, pod)) };
  const { completions = 1, parallelism } = job.spec;
  const wanted = Math.min(parallelism, completions - counted.succeeded);
  const missing = wanted - active.length;
  const restMs = counted.failed > 0 ? backOffMs - sinceFailureMs : 0;
  if (missing > 0 && restMs > 0) return { writes: [], waitMs: soonest(restMs, leftMs) };
  if (missing > 0) return { writes: Array.from({ length: missing }, () => newPod(job)) };
  return { writes: [], waitMs: leftMs };
}

function afterwards({ job, pods, finishedMs, keptMs }: ObservedJob): Step {
  const going = pods.flatMap(released);
  if (going.length > 0) return { writes: going };
  if (keptMs === undefined) return { writes: [] };
  return finishedMs < keptMs ? { writes: [], waitMs: keptMs - finishedMs } : { writes: [deletionOf(Job, job)] };
}

function say(job: Job, status: JobStatus): Write[] {
  const patch = statusPatch(job.status, status);
  if (!patch) return [];
  // A merge patch takes a field out of a map only by its name.
  const before = job.status?.uncountedTerminatedPods;
  if (before && patch.uncountedTerminatedPods) {
    const gone = Object.keys(before).map((field) => [field, null]);
    patch.uncountedTerminatedPods = { ...Object.fromEntries(gone), ...patch.uncountedTerminatedPods };
  }
  return [statusOf(Job, job, patch)];
}
