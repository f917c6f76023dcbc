import { statusChange } from '../controller/status-patch.ts';
import { type Step, soonest } from '../controller/step.ts';
import { deletionOf, type Write } from '../controller/write.ts';
import { timed } from './conditions.ts';
import { conditionOf, isGoing, isOver, isReady, Pod, positive, ReplicaSet } from './kinds.ts';
import { newPod } from './new-pod.ts';

export interface ObservedReplicaSet {
  replicaSet: ReplicaSet;
  /** Its Pods, those on their way out too. */
  pods: Pod[];
  /** For how long a Pod has been ready. */
  readyMs(pod: Pod): number;
  minReadyMs: number;
  nowMs: number;
}

/** The next step of the ReplicaSet controller: Pods that lack, Pods too many, and the counts. */
export function nextForReplicaSet(observed: ObservedReplicaSet): Step {
  const { replicaSet, pods } = observed;
  if (isGoing(replicaSet)) return { writes: [] };
  const active = pods.filter((pod) => !isGoing(pod) && !isOver(pod));
  const missing = replicaSet.spec.replicas - active.length;
  if (missing > 0) return { writes: Array.from({ length: missing }, () => newPod(replicaSet)) };
  if (missing < 0) return { writes: surplus(active, -missing).map((pod) => deletionOf(Pod, pod)) };
  return counted(observed, active);
}

/** The newest go first, and of these who isn't ready. */
const surplus = (active: readonly Pod[], count: number) =>
  [...active]
    .sort(
      (a, b) =>
        Number(isReady(a)) - Number(isReady(b)) ||
        Number(b.metadata.resourceVersion) - Number(a.metadata.resourceVersion),
    )
    .slice(0, count);

function counted({ replicaSet, readyMs, minReadyMs }: ObservedReplicaSet, active: readonly Pod[]): Step {
  const ready = active.filter(isReady);
  const available = ready.filter((pod) => readyMs(pod) >= minReadyMs);
  const status = {
    ...replicaSet.status,
    observedGeneration: replicaSet.metadata.generation,
    replicas: active.length,
    fullyLabeledReplicas: positive(active.length),
    readyReplicas: positive(ready.length),
    availableReplicas: positive(available.length),
    conditions: undefined,
  };
  const due = ready.filter((pod) => !available.includes(pod)).map((pod) => minReadyMs - readyMs(pod));
  return { writes: statusChange(ReplicaSet, replicaSet, status), waitMs: soonest(...due) };
}

/** The condition if the server refuses a Pod. */
export function refusedReplicaSet({ replicaSet, pods, nowMs }: ObservedReplicaSet, message: string): Write[] {
  const condition = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message };
  const before = conditionOf(replicaSet, condition.type);
  const { lastUpdateTime: _, ...kept } = timed(condition, before, nowMs);
  return statusChange(ReplicaSet, replicaSet, {
    ...replicaSet.status,
    observedGeneration: replicaSet.metadata.generation,
    replicas: pods.filter((pod) => !isGoing(pod) && !isOver(pod)).length,
    conditions: [kept],
  });
}
