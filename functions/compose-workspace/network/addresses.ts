import type { WorkspaceInterface, WorkspaceNetwork, WorkspaceSpec } from '../../../shared/kinds/pelotech/workspace.ts';
import { formatIp, parseCidr, parseIp } from '../../../shared/machines/ip-address.ts';

/** A user of networks: a machine or a container cluster. */
export interface Member {
  /** "vms demo-vm" */
  called: string;
  name: string;
  interfaces: readonly WorkspaceInterface[];
}

export const membersOf = ({ vms = [], containerClusters = [] }: WorkspaceSpec): Member[] => [
  ...vms.map(({ name, interfaces = [] }) => ({ called: `vms ${name}`, name, interfaces })),
  ...containerClusters.map(({ name, interfaces = [] }) => ({ called: `containerClusters ${name}`, name, interfaces })),
];

/** The address without the length of its network. */
export const bareAddress = (ipAddress: string) => ipAddress.split('/')[0] ?? '';

interface Route {
  to: string;
  via: string;
  metric?: number;
}

/** The networks of interfaces, in the order of the interfaces. */
export const networksOf = (interfaces: readonly WorkspaceInterface[], networks: readonly WorkspaceNetwork[]) =>
  interfaces.flatMap((one) => {
    const network = networks.find(({ name }) => name === one.network);
    return network ? [{ network, one }] : [];
  });

const firstMetric = 100;

/**
 * The routes of each interface: those of its network except through its own address, because a router is no client of itself.
 * The order of the interfaces decides among several default routes.
 */
export function routesOf(
  interfaces: readonly WorkspaceInterface[],
  networks: readonly WorkspaceNetwork[],
): Map<string, Route[]> {
  const found = networksOf(interfaces, networks).map(({ network, one }) => {
    const own = bareAddress(one.ipAddress ?? '');
    const routes = (network.routes ?? [])
      .filter(({ nextHopIpAddress }) => nextHopIpAddress !== own)
      .map(({ destinationNetworkCidr: to, nextHopIpAddress: via }): Route => ({ to, via }));
    return { name: network.name, routes };
  });
  const withDefault = found.filter(({ routes }) => routes.some(isDefault));
  return new Map(
    found.map((one) => [
      one.name,
      withDefault.length > 1
        ? one.routes.map((route) =>
            isDefault(route) ? { ...route, metric: firstMetric * (withDefault.indexOf(one) + 1) } : route,
          )
        : one.routes,
    ]),
  );
}

export const isDefault = ({ to }: Route) => to.endsWith('/0');

/** The name servers of the networks, each once, in the order of the interfaces. */
export const nameserversOf = (interfaces: readonly WorkspaceInterface[], networks: readonly WorkspaceNetwork[]) => [
  ...new Set(networksOf(interfaces, networks).flatMap(({ network }) => network.nameservers?.addresses ?? [])),
];

/** The highest address of a network that is not in use and in no route; undefined if all are in use. */
export function freeGateway(
  { name, cidr, routes = [], nameservers }: WorkspaceNetwork,
  spec: WorkspaceSpec,
): string | undefined {
  const range = parseCidr(cidr);
  if (!range) return undefined;
  const used = [
    ...membersOf(spec)
      .flatMap(({ interfaces }) => interfaces)
      .filter(({ network }) => network === name)
      .map(({ ipAddress = '' }) => bareAddress(ipAddress)),
    ...routes.map(({ nextHopIpAddress }) => nextHopIpAddress),
    ...(nameservers?.addresses ?? []),
  ];
  const taken = new Set(used.map((text) => parseIp(text)?.address));
  const size = 1n << BigInt(32 - range.length);
  const first = (range.address / size) * size;
  for (let host = size - 2n; host > 0n && host > size - 2n - BigInt(taken.size) - 1n; host--) {
    if (!taken.has(first + host)) return formatIp({ version: 4, address: first + host });
  }
  return undefined;
}
