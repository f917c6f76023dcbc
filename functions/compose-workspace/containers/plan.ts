import type { Deployment } from '../../../shared/kinds/apps/deployment.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import { Service } from '../../../shared/kinds/core/service.ts';
import type { ContainerCluster } from '../../../shared/kinds/pelotech/workspace.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { owns } from '../../../shared/kubernetes/ownership.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import { type Child, make } from '../child.ts';
import type { Observed } from '../observed.ts';
import { isHalted, isSkipped, skippedByPolicy } from '../skipped.ts';
import {
  component,
  failed,
  provisioning,
  ready,
  type Stage,
  type Standing,
  skipped,
  standingOf,
  waiting,
} from '../stage.ts';
import { beyondCapabilities } from './capabilities.ts';
import { deploymentChild, podsOf } from './deployment.ts';
import { crashing, isCurrent, type PodTrouble, podTrouble } from './pods.ts';

/** The container clusters: a Deployment each, and a Service where it has ports. */
export function containerStage(observed: Observed): Stage {
  const looks = (observed.workspace.spec.containerClusters ?? []).map((cluster) => ({
    name: cluster.name,
    ...lookAt(observed, cluster),
  }));
  return {
    condition: 'ContainersReady',
    writes: looks.flatMap(({ writes }) => writes),
    components: looks.map(({ name, standing }) => component('ContainerCluster', name, standing)),
  };
}

/** What a container cluster offers to others: each port once. */
export const portsOf = ({ containers }: ContainerCluster) => [
  ...new Map(
    containers
      .flatMap(({ portMappings = [] }) => portMappings)
      .map(({ containerPort, protocol = 'tcp' }) => {
        // Kubernetes refuses it in lower case.
        const upper = protocol.toUpperCase();
        return [`${upper}/${containerPort}`, { containerPort, protocol: upper }] as const;
      }),
  ).values(),
];

function lookAt(observed: Observed, cluster: ContainerCluster): Pick<Stage, 'writes'> & { standing: Standing } {
  const { workspace, policy, inside } = observed;
  const { name } = cluster;
  const found = inside?.deployments.find(({ metadata }) => metadata.name === name);
  const isOurs = found !== undefined && owns(workspace, found);
  if (!isOurs && isSkipped(cluster, policy)) return { writes: [], standing: skipped(skippedByPolicy) };
  const why = beyondCapabilities(cluster, policy) ?? takenVolume(observed, cluster);
  if (why && !isOurs) return { writes: [], standing: why };
  const deployment = make(observed, deploymentChild(observed, cluster), found);
  if (why) return { writes: deployment.writes, standing: why };
  const services =
    portsOf(cluster).length > 0
      ? [
          make(
            observed,
            serviceChild(observed, cluster),
            inside?.services.find(({ metadata }) => metadata.name === name),
          ),
        ]
      : [];
  const made = [deployment, ...services];
  return {
    writes: made.flatMap(({ writes }) => writes),
    standing: standingOf(made) ?? standingOfDeployment(observed, cluster, found),
  };
}

/** A claim of somebody else's under the name of a volume is not written to before it is handed over. */
function takenVolume({ workspace, inside }: Observed, { containers }: ContainerCluster): Standing | undefined {
  const names = new Set(containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)));
  const taken = inside?.claims.find((claim) => names.has(claim.metadata.name) && !owns(workspace, claim));
  return taken && waiting('VolumeTaken', `Waiting for Volume ${taken.metadata.name}, whose claim is somebody else's.`);
}

const serviceChild = ({ workspace }: Observed, cluster: ContainerCluster): Child => ({
  resource: Service,
  ref: { namespace: namespaceOf(workspace.metadata.name), name: cluster.name },
  fields: {
    spec: {
      type: 'ClusterIP',
      selector: podsOf(cluster),
      ports: portsOf(cluster).map(({ containerPort, protocol }) => ({
        name: `${protocol.toLowerCase()}-${containerPort}`,
        port: containerPort,
        targetPort: containerPort,
        protocol,
      })),
    },
  },
  isShared: true,
});

function standingOfDeployment(observed: Observed, cluster: ContainerCluster, found: Deployment | undefined): Standing {
  const { status, metadata } = found ?? {};
  if (!status || status.observedGeneration < (metadata?.generation ?? 0)) {
    return provisioning('Updating', 'Kubernetes has not looked at it yet.');
  }
  if (isHalted(cluster, observed.policy)) {
    const sentence = "Not started, because its ignoreOnDeploy is true and the policy's ignoreOnDeploy says Halt.";
    return status.replicas === 0 ? ready('Halted', sentence) : provisioning('Stopping', 'It is being stopped.');
  }
  const pods = podsIn(observed, cluster);
  const isOverdue = conditionOf(status.conditions, 'Progressing')?.reason === overdue;
  const trouble = refusal(status.conditions) ?? crash(observed, pods);
  if (trouble) {
    const { reason, message, sinceMs } = trouble;
    // Of one that was up before Kubernetes says no more that it is overdue.
    return isOverdue || isOver(observed, sinceMs) ? failed(reason, message) : provisioning(reason, message);
  }
  const isUp =
    status.updatedReplicas >= 1 && status.availableReplicas >= 1 && status.replicas === status.updatedReplicas;
  if (isUp) return ready('Available', 'Its containers run.');
  const { reason, message } = podTrouble(pods) ?? {};
  return isOverdue
    ? failed(reason ?? overdue, message ?? describeOverdue(observed, cluster, pods))
    : provisioning(reason ?? 'Starting', message ?? 'Its containers are being started.');
}

/** What may well pass, and has failed where it lasts. */
type Lasting = PodTrouble & { sinceMs: number };

/** A Pod that cannot be made: what it needs may come a moment later. */
function refusal(conditions: NonNullable<Deployment['status']>['conditions']): Lasting | undefined {
  const refused = conditionOf(conditions, 'ReplicaFailure');
  if (refused?.status !== 'True') return undefined;
  const { reason, message, lastTransitionTime } = refused;
  return { reason, message: `Its Pod cannot be made: ${message}`, sinceMs: Date.parse(String(lastTransitionTime)) };
}

function crash(observed: Observed, pods: readonly Pod[]): Lasting | undefined {
  const { nowMs, policy } = observed;
  const found = crashing(pods, { nowMs, steadyMs: policy.values.machineFailedAfter });
  return found && { ...found.trouble, sinceMs: downSinceMs(observed, found.pod) };
}

/** Kubernetes' word for a rollout that makes no progress for as long as the policy's machineFailedAfter. */
const overdue = 'ProgressDeadlineExceeded';

const podsIn = ({ inside }: Observed, cluster: ContainerCluster) =>
  (inside?.pods ?? []).filter(({ metadata: { labels } }) =>
    Object.entries(podsOf(cluster)).every(([key, value]) => labels?.[key] === value),
  );

const isOver = ({ nowMs, policy }: Observed, sinceMs: number) => nowMs - sinceMs >= policy.values.machineFailedAfter;

/** Since when a Pod is not up: no longer than it is there, and than the workspace says that containers are missing. */
function downSinceMs({ workspace, nowMs }: Observed, { metadata }: Pod): number {
  const before = conditionOf(workspace.status?.conditions, 'ContainersReady');
  const saidMs = before?.status === 'True' ? nowMs : Date.parse(before?.lastTransitionTime ?? '');
  return Math.max(saidMs || 0, Date.parse(metadata.creationTimestamp));
}

function describeOverdue({ workspace }: Observed, { name }: ContainerCluster, pods: readonly Pod[]): string {
  const pod = pods.find(isCurrent)?.metadata.name;
  const [called, found] = pod === undefined ? ['It', `deployment ${name}`] : [`Pod ${pod}`, `pod ${pod}`];
  const namespace = namespaceOf(workspace.metadata.name);
  return `${called} did not come up in time; to find out why: kubectl describe ${found} -n ${namespace}.`;
}
