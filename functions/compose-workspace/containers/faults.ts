import type { ContainerCluster, WorkspaceContainer, WorkspaceSpec } from '../../../shared/kinds/pelotech/workspace.ts';
import { describeAmong, describeTwice, duplicatesOf, notALabel } from '../names.ts';

export function clusterFaults(
  { containerClusters = [], volumes = [] }: WorkspaceSpec,
  provider: 'kube-ovn' | 'bridge',
): string[] {
  const names = new Set(volumes.map(({ name }) => name));
  return [
    ...containerClusters.flatMap((cluster) => faultsIn(cluster, names, provider)),
    ...volumes
      .filter(({ localPath }) => localPath?.split('/').includes('..'))
      .map(({ name, localPath }) => `volumes ${name}: expected a path without ".." in localPath, found ${localPath}.`),
  ];
}

function faultsIn(cluster: ContainerCluster, volumes: ReadonlySet<string>, provider: 'kube-ovn' | 'bridge'): string[] {
  const called = `containerClusters ${cluster.name}`;
  const { containers, interfaces = [] } = cluster;
  const names = containers.map(({ name }) => name);
  const ports = containers.flatMap(({ portMappings = [] }) => portMappings);
  const formatPort = (port: number | undefined, protocol = 'tcp') => `${port}/${protocol.toLowerCase()}`;
  const hostPorts = ports.filter(({ hostPort }) => hostPort !== undefined);
  return [
    ...names.flatMap((name) => notALabel(`${called}: containers`, name)),
    ...duplicatesOf(names).map((name) => describeTwice(`${called}: containers`, name)),
    ...containers.flatMap((container) => mountFaults(called, container, volumes)),
    ...duplicatesOf(ports.map(({ containerPort, protocol }) => formatPort(containerPort, protocol))).map(
      (port) => `${called}: expected each containerPort once, found ${port} twice; its containers share one address.`,
    ),
    ...duplicatesOf(hostPorts.map(({ hostPort, protocol }) => formatPort(hostPort, protocol))).map(
      (port) => `${called}: expected each hostPort once, found ${port} twice.`,
    ),
    // The name of a Service begins with a letter (RFC 1035).
    ...(ports.length > 0 && /^[0-9]/.test(cluster.name)
      ? [`${called}: expected a name that begins with a letter, for it has ports and so a Service.`]
      : []),
    ...(provider === 'bridge'
      ? interfaces
          .filter(({ ipAddress }) => ipAddress === undefined)
          .map(({ network }) => `${called}: expected an ipAddress on ${network}: a bridge gives none.`)
      : []),
  ];
}

function mountFaults(
  called: string,
  { name, volumeMounts = [] }: WorkspaceContainer,
  volumes: ReadonlySet<string>,
): string[] {
  return [
    ...volumeMounts
      .filter((mount) => !volumes.has(mount.name))
      .map(
        (mount) =>
          `${called}: container ${name}: expected a volume of this workspace${describeAmong(volumes)}, found ${mount.name}.`,
      ),
    ...duplicatesOf(volumeMounts.map(({ containerPath }) => containerPath)).map(
      (path) => `${called}: container ${name}: expected each containerPath once, found ${path} twice.`,
    ),
  ];
}
