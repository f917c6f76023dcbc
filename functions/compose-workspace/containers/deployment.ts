import { Deployment } from '../../../shared/kinds/apps/deployment.ts';
import { managedBy } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type {
  ContainerCluster,
  Workspace,
  WorkspaceContainer,
  WorkspaceInterface,
  WorkspaceNetwork,
  WorkspaceVolume,
} from '../../../shared/kinds/pelotech/workspace.ts';
import type { Policy } from '../../../shared/policy.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import type { Child } from '../child.ts';
import { bareAddress, isDefault, nameserversOf, networksOf, routesOf } from '../network/addresses.ts';
import { withAddresses } from '../network/bridge.ts';
import { providerOf } from '../network/kube-ovn.ts';
import type { Provider } from '../network/plan.ts';
import { isHalted } from '../skipped.ts';
import { beyondCapabilities } from './capabilities.ts';
import { hostPortOf } from './host-ports.ts';

const containerClusterLabel = 'pelotech.ot/container-cluster';

/** What tells the Pods of a container cluster from others of its namespace; a Deployment's selector never changes. */
export const podsOf = ({ name }: ContainerCluster) => ({ [containerClusterLabel]: name });

/** Containers that start and end at once are not available. */
const minReadySeconds = 5;

/**
 * One Pod at a time: an address, a volume and a port of a node exist once. It gets what it asks for, and learns nothing about Kubernetes.
 */
export function deploymentChild(
  workspace: Workspace,
  cluster: ContainerCluster,
  policy: Policy,
  { provider, isHibernating }: { provider: Provider; isHibernating: boolean },
): Child {
  const { volumes = [], networks = [] } = workspace.spec;
  const interfaces = cluster.interfaces ?? [];
  const mounted = volumes.filter(({ name }) =>
    cluster.containers.some(({ volumeMounts = [] }) => volumeMounts.some((mount) => mount.name === name)),
  );
  const annotations = annotationsOf(namespaceOf(workspace.metadata.name), interfaces, networks, provider);
  return {
    resource: Deployment,
    name: cluster.name,
    fields: {
      spec: {
        replicas:
          isHibernating || isHalted(cluster, policy) || beyondCapabilities(cluster, policy)?.phase === 'Failed' ? 0 : 1,
        strategy: { type: 'Recreate' },
        minReadySeconds,
        revisionHistoryLimit: 1,
        progressDeadlineSeconds: Math.max(minReadySeconds + 1, Math.round(policy.values.machineFailedAfter / 1000)),
        selector: { matchLabels: podsOf(cluster) },
        template: {
          metadata: { labels: { ...podsOf(cluster), ...managedBy }, annotations },
          spec: {
            ...apartFromNode,
            automountServiceAccountToken: false,
            enableServiceLinks: false,
            ...dnsOf(nameserversOf(interfaces, networks)),
            containers: cluster.containers.map((container) => containerOf(container, mounted, policy)),
            volumes: mounted.map(({ name }) => ({ name, persistentVolumeClaim: { claimName: name } })),
          },
        },
      },
    },
  };
}

/** Explicit, though mostly Kubernetes' defaults: an edit that lets a Pod out of its lab is reverted. */
const apartFromNode = {
  ...{ hostNetwork: false, hostPID: false, hostIPC: false, initContainers: [], nodeSelector: {} },
  securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
};

/** Kubernetes allows one to three. */
const mostNameservers = 3;

/** The lab's name servers. Without one, a look-up fails immediately instead of waiting for a server out of reach. */
const dnsOf = (nameservers: readonly string[]) => ({
  dnsPolicy: 'None',
  dnsConfig: { nameservers: nameservers.length > 0 ? nameservers.slice(0, mostNameservers) : ['127.0.0.1'] },
});

function containerOf(container: WorkspaceContainer, volumes: readonly WorkspaceVolume[], policy: Policy) {
  const { name, image, resources, capabilities, env = [], volumeMounts = [], portMappings = [] } = container;
  const { add = [], drop = [] } = capabilities ?? {};
  return {
    name,
    image,
    ...(resources ? { resources: { requests: resources, limits: resources } } : {}),
    securityContext: {
      privileged: false,
      // A process that is not root has an added capability only by the file that it runs.
      allowPrivilegeEscalation: add.length > 0,
      ...(capabilities ? { capabilities: listed({ add, drop }) } : {}),
    },
    env: env.map(({ name: key, value = '' }) => ({ name: key, value })),
    volumeMounts: volumeMounts.map((mount) => {
      const subPath = subPathOf(volumes.find((volume) => volume.name === mount.name)?.localPath);
      return {
        name: mount.name,
        mountPath: mount.containerPath,
        ...(mount.readOnly ? { readOnly: true } : {}),
        ...(subPath ? { subPath } : {}),
      };
    }),
    ports: portMappings.map((mapping) => {
      const { containerPort, protocol = 'tcp' } = mapping;
      const hostPort = hostPortOf(mapping, policy);
      return { containerPort, protocol: protocol.toUpperCase(), ...(hostPort ? { hostPort } : {}) };
    }),
  };
}

const listed = (lists: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));

/** Kubernetes takes a path without its first slash. */
const subPathOf = (localPath: string | undefined) => localPath?.replace(/^\/+/, '').replace(/\/+$/, '');

/** What Multus and kube-ovn read: the networks, and the address and routes on each. */
function annotationsOf(
  namespace: string,
  interfaces: readonly WorkspaceInterface[],
  networks: readonly WorkspaceNetwork[],
  provider: Provider,
): Record<string, string> {
  const routes = routesOf(interfaces, networks);
  const found = networksOf(interfaces, networks);
  if (found.length === 0) return {};
  const isKubeOvn = provider === 'kube-ovn';
  // A Pod uses the first of several default routes.
  const leading = found.find(({ network }) => routes.get(network.name)?.some(isDefault))?.network.name;
  const attachments = found.map(({ network: { name }, one }) => {
    const way = name === leading ? routes.get(name)?.find(isDefault)?.via : undefined;
    return {
      name: isKubeOvn ? name : withAddresses(name),
      namespace,
      ...(isKubeOvn || one.ipAddress === undefined ? {} : { ips: [one.ipAddress] }),
      ...(way === undefined ? {} : { 'default-route': [way] }),
    };
  });
  const kubeOvn = found.flatMap(({ network: { name }, one }) => {
    const prefix = `${providerOf(namespace, name)}.kubernetes.io/`;
    const others = (routes.get(name) ?? []).filter((route) => !isDefault(route));
    return [
      ...(one.ipAddress === undefined ? [] : [[`${prefix}ip_address`, bareAddress(one.ipAddress)]]),
      ...(others.length === 0
        ? []
        : [[`${prefix}routes`, JSON.stringify(others.map(({ to, via }) => ({ dst: to, gw: via })))]]),
    ];
  });
  return {
    'k8s.v1.cni.cncf.io/networks': JSON.stringify(attachments),
    ...(isKubeOvn ? Object.fromEntries(kubeOvn) : {}),
  };
}
