import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { type Contents, without } from '../controller/conditions.ts';
import type { Condition } from '../controller/kinds.ts';
import { timed, withCondition } from './conditions.ts';
import { type Deployment, type DeploymentStatus, positive, type ReplicaSet } from './kinds.ts';

interface Rollout {
  deployment: Deployment;
  /** All of its ReplicaSets, and the ReplicaSet of the current template. */
  replicaSets: readonly ReplicaSet[];
  newest: ReplicaSet | undefined;
  /** How long it has made no progress, and how long it may. */
  stalledMs: number;
  deadlineMs: number;
  nowMs: number;
}

/** What the Deployment controller says of a rollout (kubernetes pkg/controller/deployment/progress.go, sync.go). */
export function deploymentStatus(rollout: Rollout): DeploymentStatus {
  const status = counts(rollout);
  const conditions = withFailure(withProgress(rollout, status, withAvailability(rollout, status)), rollout);
  return { ...status, conditions };
}

const sum = (replicaSets: readonly ReplicaSet[], count: (replicaSet: ReplicaSet) => number | undefined) =>
  replicaSets.reduce((total, each) => total + (count(each) ?? 0), 0);

function counts({ deployment, replicaSets, newest }: Rollout): DeploymentStatus {
  const available = sum(replicaSets, ({ status }) => status?.availableReplicas);
  const wanted = sum(replicaSets, ({ spec }) => spec.replicas);
  return {
    observedGeneration: deployment.metadata.generation,
    replicas: positive(sum(replicaSets, ({ status }) => status?.replicas)),
    updatedReplicas: positive(newest?.status?.replicas ?? 0),
    readyReplicas: positive(sum(replicaSets, ({ status }) => status?.readyReplicas)),
    availableReplicas: positive(available),
    unavailableReplicas: positive(wanted - available),
  };
}

function withAvailability({ deployment, nowMs }: Rollout, { availableReplicas = 0 }: DeploymentStatus): Condition[] {
  const { replicas, strategy } = deployment.spec;
  // A quarter may be away in a rolling update, rounded down.
  const mayBeAway = strategy?.type === 'Recreate' ? 0 : Math.floor(replicas / 4);
  const isAvailable = availableReplicas >= replicas - mayBeAway;
  const next = {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `Deployment ${isAvailable ? 'has' : 'does not have'} minimum availability.`,
  };
  return withCondition(deployment.status?.conditions ?? [], next, nowMs);
}

const progressing = (status: string, reason: string, message: string): Contents => ({
  type: 'Progressing',
  status,
  reason,
  message,
});

function withProgress(rollout: Rollout, status: DeploymentStatus, conditions: Condition[]): Condition[] {
  const { deployment, newest, stalledMs, deadlineMs, nowMs } = rollout;
  const current = conditionOf(conditions, 'Progressing');
  const name = newest ? `ReplicaSet "${newest.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const isDone = status.replicas === status.updatedReplicas && current?.reason === 'NewReplicaSetAvailable';
  if (isDone) return conditions;
  if (isComplete(deployment, status)) {
    const next = progressing('True', 'NewReplicaSetAvailable', `${name} has successfully progressed.`);
    return withCondition(conditions, next, nowMs);
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    const next = progressing('True', 'ReplicaSetUpdated', `${name} is progressing.`);
    // Updated even with the same message: the deadline counts from the last progress.
    return [...without(conditions, 'Progressing'), timed(next, current, nowMs)];
  }
  const isLate = current !== undefined && current.reason !== 'NewReplicaSetAvailable' && stalledMs >= deadlineMs;
  if (!isLate) return conditions;
  return withCondition(
    conditions,
    progressing('False', 'ProgressDeadlineExceeded', `${name} has timed out progressing.`),
    nowMs,
  );
}

const isComplete = ({ spec }: Deployment, status: DeploymentStatus) =>
  [status.updatedReplicas, status.replicas, status.availableReplicas].every((count = 0) => count === spec.replicas);

function hasProgressed(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  const grew = (field: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas') =>
    Number(now[field] ?? 0) > Number(before[field] ?? 0);
  return grew('updatedReplicas') || old(now) < old(before) || grew('readyReplicas') || grew('availableReplicas');
}

/** What a ReplicaSet cannot make, its Deployment tells too. */
function withFailure(conditions: Condition[], { replicaSets, newest, nowMs }: Rollout): Condition[] {
  const failure = [newest, ...replicaSets]
    .flatMap((each) => each?.status?.conditions ?? [])
    .find(({ type }) => type === 'ReplicaFailure');
  if (!failure) return without(conditions, 'ReplicaFailure');
  const { type, status, reason, message } = failure;
  return withCondition(conditions, { type, status, reason, message }, nowMs);
}
