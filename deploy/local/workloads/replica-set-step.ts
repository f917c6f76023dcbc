import { isDeepStrictEqual } from 'node:util';
import { deletionOf, statusOf, type Write } from '../controller/write.ts';
import { timed } from './conditions.ts';
import type { Step } from './context.ts';
import { conditionOf, isGoing, isOver, isReady, Pod, ReplicaSet } from './kinds.ts';
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
  if (missing > 0) return { writes: Array.from({ length: missing }, () => created(replicaSet)).flat() };
  if (missing < 0) return { writes: surplus(active, -missing).map((pod) => deletionOf(Pod, pod)) };
  return counted(observed, active);
}

const created = (replicaSet: ReplicaSet): Write[] => [newPod(replicaSet)];

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
    observedGeneration: replicaSet.metadata.generation,
    replicas: active.length,
    fullyLabeledReplicas: positive(active.length),
    readyReplicas: positive(ready.length),
    availableReplicas: positive(available.length),
    conditions: undefined,
  };
  const due = ready.filter((pod) => !available.includes(pod)).map((pod) => minReadyMs - readyMs(pod));
  return { writes: statusWrites(replicaSet, status), ...(due.length > 0 ? { waitMs: Math.min(...due) } : {}) };
}

/** Go writes no zero where a field is optional. */
const positive = (count: number) => (count > 0 ? count : undefined);

/** The condition if the server refuses a Pod. */
export function refusedReplicaSet({ replicaSet, pods, nowMs }: ObservedReplicaSet, message: string): Write[] {
  const condition = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message };
  const before = conditionOf(replicaSet, condition.type);
  const { lastUpdateTime: _, ...kept } = timed(condition, before, nowMs);
  return statusWrites(replicaSet, {
    observedGeneration: replicaSet.metadata.generation,
    replicas: pods.filter((pod) => !isGoing(pod) && !isOver(pod)).length,
    conditions: [kept],
  });
}

function statusWrites(replicaSet: ReplicaSet, status: Record<string, unknown>): Write[] {
  const before: Record<string, unknown> = replicaSet.status ?? {};
  const changed = Object.entries(status).filter(([field, value]) => !isDeepStrictEqual(before[field], value));
  if (changed.length === 0) return [];
  return [
    statusOf(ReplicaSet, replicaSet, Object.fromEntries(changed.map(([field, value]) => [field, value ?? null]))),
  ];
}
