import { Service } from '../../../shared/kinds/core/service.ts';
import type { ContainerCluster, Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import { owns } from '../../../shared/kubernetes/ownership.ts';
import type { Policy } from '../../../shared/policy.ts';
import { type Child, type Make, named } from '../child.ts';
import type { Provider } from '../network/plan.ts';
import type { Inside } from '../observed.ts';
import { isSkipped, skippedByPolicy } from '../skipped.ts';
import {
  type ComponentStatus,
  type PlannedComponent,
  type Stage,
  skipped,
  stageOf,
  statusOf,
  waiting,
} from '../stage.ts';
import { beyondCapabilities } from './capabilities.ts';
import { deploymentChild, podsOf } from './deployment.ts';
import { withoutHostPorts } from './host-ports.ts';
import { statusOfDeployment } from './status.ts';

interface Containers extends Pick<Inside, 'deployments' | 'services' | 'claims' | 'pods'> {
  workspace: Workspace;
  policy: Policy;
  provider: Provider;
  nowMs: number;
  /** They are stopped. */
  isHibernating: boolean;
}

/** The container clusters: a Deployment each, and a Service where it has ports. */
export const containerStage = (found: Containers, make: Make): Stage =>
  stageOf(
    'ContainersReady',
    'ContainerCluster',
    (found.workspace.spec.containerClusters ?? []).map((cluster) => componentOf(found, cluster, make)),
  );

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

function componentOf(found: Containers, cluster: ContainerCluster, make: Make): PlannedComponent {
  const { workspace, policy, provider, services, pods, isHibernating } = found;
  const { name } = cluster;
  const deployment = named(found.deployments, name);
  const isOurs = deployment !== undefined && owns(workspace, deployment);
  if (!isOurs && isSkipped(cluster, policy)) return { name, writes: [], status: skipped(skippedByPolicy) };
  const why = beyondCapabilities(cluster, policy) ?? takenVolume(found, cluster);
  if (why && !isOurs) return { name, writes: [], status: why };
  const made = [make(deploymentChild(workspace, cluster, policy, { provider, isHibernating }), deployment)];
  if (!why && portsOf(cluster).length > 0) made.push(make(serviceChild(cluster), named(services, name)));
  return {
    name,
    writes: made.flatMap(({ writes }) => writes),
    status:
      why ?? statusOf(made) ?? withoutHostPorts(statusOfDeployment(found, cluster, deployment, pods), cluster, policy),
  };
}

/** A claim of another owner under the name of a volume is not written to before it is handed over. */
function takenVolume({ workspace, claims }: Containers, { containers }: ContainerCluster): ComponentStatus | undefined {
  const names = new Set(containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)));
  const taken = claims.find((claim) => names.has(claim.metadata.name) && !owns(workspace, claim));
  return (
    taken && waiting('VolumeTaken', `Waiting for Volume ${taken.metadata.name}, whose claim belongs to another owner.`)
  );
}

const serviceChild = (cluster: ContainerCluster): Child => ({
  resource: Service,
  name: cluster.name,
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
