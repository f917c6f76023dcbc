import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { ownedBy } from '../controller/owner.ts';
import { statusChange } from '../controller/status-patch.ts';
import type { Step } from '../controller/step.ts';
import { deletionOf, eventsFrom, patchOf, statusOf, type Write } from '../controller/write.ts';
import { withCondition } from './conditions.ts';
import { deploymentStatus } from './deployment-status.ts';
import { Deployment, isGoing, isOver, isTrue, type Pod, ReplicaSet, templateHash } from './kinds.ts';
import { hashOf } from './template-hash.ts';

export interface ObservedDeployment {
  deployment: Deployment;
  replicaSets: ReplicaSet[];
  /** The Pods of all of these. */
  podsOf(replicaSet: ReplicaSet): Pod[];
  stalledMs: number;
  deadlineMs: number;
  nowMs: number;
}

const revision = 'deployment.kubernetes.io/revision';

/** The next step of the Deployment controller: the ReplicaSet of the present template, the end of others, and the status. */
export function nextForDeployment(observed: ObservedDeployment): Step {
  const { deployment, replicaSets } = observed;
  if (isGoing(deployment)) return { writes: [] };
  const hash = hashOf(deployment.spec.template);
  const newest = replicaSets.find(({ metadata }) => metadata.labels?.[templateHash] === hash);
  const old = replicaSets.filter((each) => each !== newest);
  const writes = deployment.spec.paused ? [] : roll(observed, newest, old, hash);
  if (writes.length > 0) return { writes };
  return tell(observed, newest, old);
}

function roll(observed: ObservedDeployment, newest: ReplicaSet | undefined, old: ReplicaSet[], hash: string): Write[] {
  const { deployment } = observed;
  const isRecreated = deployment.spec.strategy?.type === 'Recreate';
  const ending = old.filter(({ spec }) => spec.replicas > 0);
  const scaledDown = ending.flatMap((each) => scaled(deployment, each, 0));
  if (isRecreated && scaledDown.length > 0) return scaledDown;
  // Recreate means that no two are ever there at a time: the old ones are waited for to the last.
  if (isRecreated && old.some((each) => observed.podsOf(each).some((pod) => !isOver(pod)))) return [];
  if (!newest) return create(observed, old, hash);
  const { replicas } = deployment.spec;
  if (newest.spec.replicas !== replicas) return scaled(deployment, newest, replicas);
  return (newest.status?.availableReplicas ?? 0) >= replicas ? scaledDown : [];
}

function scaled(deployment: Deployment, replicaSet: ReplicaSet, replicas: number): Write[] {
  const way = replicas > replicaSet.spec.replicas ? 'up' : 'down';
  const message = `Scaled ${way} replica set ${replicaSet.metadata.name} from ${replicaSet.spec.replicas} to ${replicas}`;
  return [patchOf(ReplicaSet, replicaSet, { spec: { replicas } }), scaling(deployment, message)];
}

const scaling = (deployment: Deployment, message: string): Write =>
  eventsFrom('deployment-controller')(deployment, 'Normal', 'ScalingReplicaSet', message);

function create(observed: ObservedDeployment, old: ReplicaSet[], hash: string): Write[] {
  const { deployment, nowMs } = observed;
  const { spec, metadata, status } = deployment;
  const name = `${metadata.name}-${hash}`;
  const number = String(1 + Math.max(0, ...old.map((each) => Number(each.metadata.annotations?.[revision] ?? 0))));
  const message = `Created new replica set "${name}"`;
  const next = { type: 'Progressing', status: 'True', reason: 'NewReplicaSetCreated', message };
  const conditions = withCondition(status?.conditions ?? [], next, nowMs);
  return [
    { do: 'create', resource: ReplicaSet, object: replicaSetFor(deployment, name, hash, number) },
    patchOf(Deployment, deployment, { metadata: { annotations: { [revision]: number } } }),
    statusOf(Deployment, deployment, { conditions }),
    ...(spec.replicas > 0 ? [scaling(deployment, `Scaled up replica set ${name} from 0 to ${spec.replicas}`)] : []),
  ];
}

function replicaSetFor(deployment: Deployment, name: string, hash: string, number: string) {
  const { metadata, spec } = deployment;
  const { template, selector, replicas, minReadySeconds } = spec;
  const labels = { ...template.metadata?.labels, [templateHash]: hash };
  return {
    metadata: {
      name,
      namespace: metadata.namespace,
      labels,
      annotations: {
        'deployment.kubernetes.io/desired-replicas': String(replicas),
        'deployment.kubernetes.io/max-replicas': String(replicas),
        [revision]: number,
      },
      ownerReferences: [ownedBy(deployment)],
    },
    spec: {
      replicas,
      ...(minReadySeconds ? { minReadySeconds } : {}),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [templateHash]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

function tell(observed: ObservedDeployment, newest: ReplicaSet | undefined, old: ReplicaSet[]): Step {
  const { deployment, replicaSets, deadlineMs, stalledMs, nowMs } = observed;
  const status = deploymentStatus({ deployment, replicaSets, newest, deadlineMs, stalledMs, nowMs });
  const change = statusChange(Deployment, deployment, status);
  const writes = change.length > 0 ? change : forgotten(deployment, old);
  const waits = conditionOf(status.conditions, 'Progressing');
  const isCounted = waits?.status === 'True' && waits.reason !== 'NewReplicaSetAvailable';
  return { writes, waitMs: isCounted ? deadlineMs - stalledMs : undefined };
}

/** Of the ReplicaSets that have nothing to do any more only the newest are kept, once the rollout is through. */
function forgotten(deployment: Deployment, old: ReplicaSet[]): Write[] {
  if (!isTrue(deployment, 'Available')) return [];
  const idle = old.filter((each) => each.spec.replicas === 0 && !each.status?.replicas && !isGoing(each));
  const surplus = idle.length - deployment.spec.revisionHistoryLimit;
  const numberOf = ({ metadata }: ReplicaSet) => Number(metadata.annotations?.[revision] ?? 0);
  return [...idle]
    .sort((a, b) => numberOf(a) - numberOf(b))
    .slice(0, Math.max(0, surplus))
    .map((each) => deletionOf(ReplicaSet, each));
}
