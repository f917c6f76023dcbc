import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { ApiError } from '../../../shared/runtime/errors.ts';
import { isControlledBy } from '../controller/owner.ts';
import type { Again } from '../controller/work-queue.ts';
import type { WorkloadContext } from './context.ts';
import { isReady, type Pod, type ReplicaSet } from './kinds.ts';
import { nextForReplicaSet, type ObservedReplicaSet, refusedReplicaSet } from './replica-set-step.ts';

export async function reconcileReplicaSet(context: WorkloadContext, ref: ObjectReference): Promise<Again> {
  const replicaSet = context.replicaSets.find(ref);
  if (!replicaSet) return undefined;
  const observed = observe(context, replicaSet);
  const { writes, waitMs } = nextForReplicaSet(observed);
  try {
    await context.perform(writes);
  } catch (error) {
    const isRefused = error instanceof ApiError && [400, 403, 422].includes(error.status);
    if (isRefused) await context.perform(refusedReplicaSet(observed, error.message));
    throw error;
  }
  if (writes.length > 0) return { holdMs: context.timings.tickMs };
  return waitMs === undefined ? undefined : { requeueAfterMs: Math.max(1, waitMs) };
}

const observe = (context: WorkloadContext, replicaSet: ReplicaSet): ObservedReplicaSet => ({
  replicaSet,
  pods: [...context.pods.objects.values()].filter((pod) => isControlledBy(pod, replicaSet)),
  readyMs: (pod: Pod) => context.times.msIn(`${pod.metadata.uid} ready`, String(isReady(pod))),
  minReadyMs: (replicaSet.spec.minReadySeconds ?? 0) * 1000 * context.timings.secondsScale,
  nowMs: context.clock.now(),
});
