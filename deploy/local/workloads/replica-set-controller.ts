import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { isControlledBy } from '../controller/owner.ts';
import { performStep } from '../controller/step.ts';
import type { Again } from '../controller/work-queue.ts';
import type { WorkloadContext } from './context.ts';
import { isReady, type Pod, type ReplicaSet } from './kinds.ts';
import { nextForReplicaSet, type ObservedReplicaSet, refusedReplicaSet } from './replica-set-step.ts';

export async function reconcileReplicaSet(context: WorkloadContext, ref: ObjectReference): Promise<Again> {
  const replicaSet = context.replicaSets.find(ref);
  if (!replicaSet) return undefined;
  const observed = observe(context, replicaSet);
  return performStep(context, nextForReplicaSet(observed), (message) => refusedReplicaSet(observed, message));
}

const observe = (context: WorkloadContext, replicaSet: ReplicaSet): ObservedReplicaSet => ({
  replicaSet,
  pods: [...context.pods.objects.values()].filter((pod) => isControlledBy(pod, replicaSet)),
  readyMs: (pod: Pod) => context.times.msIn(`${pod.metadata.uid} ready`, String(isReady(pod))),
  minReadyMs: (replicaSet.spec.minReadySeconds ?? 0) * 1000 * context.timings.secondsScale,
  nowMs: context.clock.now(),
});
