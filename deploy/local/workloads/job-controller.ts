import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { controllerOf, isControlledBy } from '../controller/owner.ts';
import { performStep } from '../controller/step.ts';
import type { Again } from '../controller/work-queue.ts';
import { withoutFinalizer } from '../controller/write.ts';
import type { WorkloadContext } from './context.ts';
import { nextForJob, type ObservedJob } from './job-step.ts';
import { isTrue, type Job, jobTracking, Pod } from './kinds.ts';

export async function reconcileJob(context: WorkloadContext, ref: ObjectReference): Promise<Again> {
  const job = context.jobs.find(ref);
  if (!job) return letOrphansGo(context, ref);
  return performStep(context, nextForJob(observe(context, job)));
}

/** Pods whose Job is gone before it has counted them. */
async function letOrphansGo(context: WorkloadContext, { namespace, name }: ObjectReference): Promise<Again> {
  const orphans = [...context.pods.objects.values()].filter(
    (pod) =>
      pod.metadata.namespace === namespace &&
      pod.metadata.labels?.['batch.kubernetes.io/job-name'] === name &&
      pod.metadata.finalizers?.includes(jobTracking),
  );
  await context.perform(orphans.map((pod) => withoutFinalizer(Pod, pod, jobTracking)));
  return undefined;
}

const firstBackOffMs = 10_000;
const maxBackOffMs = 600_000;

function observe(context: WorkloadContext, job: Job): ObservedJob {
  const { clock, timings, times, pods } = context;
  const { uid } = job.metadata;
  const { failed = 0, startTime } = job.status ?? {};
  const isDone = isTrue(job, 'Complete') || isTrue(job, 'Failed');
  const inSeconds = (seconds: number | undefined) =>
    seconds === undefined ? undefined : seconds * 1000 * timings.secondsScale;
  return {
    job,
    pods: [...pods.objects.values()].filter((pod) => isControlledBy(pod, job)),
    activeMs: times.msIn(`${uid} active`, startTime ?? ''),
    deadlineMs: inSeconds(job.spec.activeDeadlineSeconds),
    finishedMs: times.msIn(`${uid} finished`, String(isDone)),
    keptMs: inSeconds(job.spec.ttlSecondsAfterFinished),
    sinceFailureMs: times.msIn(`${uid} failed`, String(failed)),
    backOffMs: Math.min(firstBackOffMs * 2 ** (failed - 1), maxBackOffMs) * timings.secondsScale,
    nowMs: clock.now(),
  };
}

/** The Job a Pod belongs to, there or gone. */
export const jobOf = (pod: Pod) => {
  const owner = controllerOf(pod);
  return owner?.kind === 'Job' ? owner.name : pod.metadata.labels?.['batch.kubernetes.io/job-name'];
};
