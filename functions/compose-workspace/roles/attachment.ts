import type { Workspace, WorkspaceSpec } from '../../../shared/kinds/pelotech/workspace.ts';
import { formatIp, parseCidr, parseIp } from '../../../shared/machines/ip-address.ts';
import type { Policy } from '../../../shared/policy.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import { bareAddress, membersOf } from '../network/addresses.ts';
import { withAddresses } from '../network/bridge.ts';
import { providerOf } from '../network/kube-ovn.ts';

/**
 * The annotations that connect the Pod of a Job to the control network. It has an address of its own: an assigned one might be
 * that of a member that has not started yet.
 */
export function attachment(
  workspace: Workspace,
  { values }: Policy,
  address: string | undefined,
): Record<string, string> {
  const network = workspace.spec.networks?.find(({ name }) => name === values.ansibleControlNetwork);
  if (!network || !address) return {};
  const namespace = namespaceOf(workspace.metadata.name);
  if ((workspace.status?.networkProvider ?? values.networkProvider) === 'bridge') {
    const length = network.cidr.split('/')[1];
    return {
      'k8s.v1.cni.cncf.io/networks': JSON.stringify([
        { name: withAddresses(network.name), namespace, ips: [`${address}/${length}`] },
      ]),
    };
  }
  return {
    'k8s.v1.cni.cncf.io/networks': JSON.stringify([{ name: network.name, namespace }]),
    [`${providerOf(namespace, network.name)}.kubernetes.io/ip_address`]: address,
  };
}

/**
 * This many free addresses of a network, from its middle down and then up; fewer if it has no more. The last one is kept for a
 * gateway: the provider uses the highest free address even if the lab has none.
 */
export function runnerAddresses(spec: WorkspaceSpec, cidr: string | undefined, count: number): string[] {
  const range = cidr === undefined ? undefined : parseCidr(cidr);
  if (!range) return [];
  const taken = new Set(addressesIn(spec).map((ip) => parseIp(ip)?.address));
  const size = 1n << BigInt((range.version === 4 ? 32 : 128) - range.length);
  const first = range.address - (range.address % size);
  const [lowest, middle, highest] = [first + 1n, first + size / 2n, first + size - 2n];
  const found: bigint[] = [];
  const isEnough = () => found.length > count;
  const look = (address: bigint) => {
    if (!taken.has(address)) found.push(address);
  };
  for (let address = middle; address >= lowest && !isEnough(); address -= 1n) look(address);
  for (let address = middle + 1n; address <= highest && !isEnough(); address += 1n) look(address);
  return found.slice(0, -1).map((address) => formatIp({ version: range.version, address }));
}

/** Every address that is used or named on any network. */
function addressesIn(spec: WorkspaceSpec): string[] {
  const used = membersOf(spec).flatMap(({ interfaces }) => interfaces);
  const named = (spec.networks ?? []).flatMap(({ rangeGateway, routes = [], nameservers }) => [
    ...(rangeGateway === undefined ? [] : [rangeGateway]),
    ...routes.map(({ nextHopIpAddress }) => nextHopIpAddress),
    ...(nameservers?.addresses ?? []),
  ]);
  return [...used.flatMap(({ ipAddress }) => (ipAddress === undefined ? [] : bareAddress(ipAddress))), ...named];
}
