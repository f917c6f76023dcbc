import type { WorkspaceInterface, WorkspaceNetwork, WorkspaceSpec } from '../../../shared/kinds/pelotech/workspace.ts';
import { type Cidr, isInNetworkOf, parseCidr, parseIp, unusable } from '../../../shared/machines/ip-address.ts';
import { describeAmong, duplicatesOf } from '../names.ts';
import { bareAddress, freeGateway, type Member, membersOf } from './addresses.ts';

/** Illegal networks and addresses. Only IPv4: IPv6 is reported as not supported yet. */
export function networkFaults(spec: WorkspaceSpec, provider: 'kube-ovn' | 'bridge'): string[] {
  const { networks = [] } = spec;
  const members = membersOf(spec);
  return [
    ...networks.flatMap((network) => faultsIn(network)),
    ...overlaps(networks),
    ...members.flatMap((member) => interfaceFaults(member, networks)),
    ...networks.flatMap((network) => addressesTwice(network, members)),
    ...(provider === 'kube-ovn' ? networks.flatMap((network) => noGatewayLeft(network, spec)) : []),
  ];
}

const noIpv6 = 'IPv6 is not supported in workspaces yet';

function faultsIn({ name, cidr, rangeGateway, routes = [], nameservers }: WorkspaceNetwork): string[] {
  const called = `networks ${name}`;
  const range = parseCidr(cidr);
  const own = rangeFault(called, cidr, range);
  const isIpv4 = range?.version === 4;
  return [
    ...own,
    ...(rangeGateway === undefined
      ? []
      : memberAddressFaults(`${called}: rangeGateway`, rangeGateway, isIpv4 ? range : undefined)),
    ...routes.flatMap(({ destinationNetworkCidr, nextHopIpAddress }) => [
      ...destinationFaults(called, destinationNetworkCidr),
      ...memberAddressFaults(`${called}: nextHopIpAddress`, nextHopIpAddress, isIpv4 ? range : undefined),
    ]),
    ...(nameservers?.addresses ?? []).flatMap((address) =>
      memberAddressFaults(`${called}: nameservers`, address, undefined),
    ),
  ];
}

function rangeFault(called: string, text: string, range: Cidr | undefined): string[] {
  if (!range) return [`${called}: expected a network such as 10.10.0.0/24 in cidr, found ${text}.`];
  if (range.version === 6) return [`${called}: expected an IPv4 network, found ${text}; ${noIpv6}.`];
  if (range.length > 30)
    return [`${called}: expected a network with room for two members, at most /30, found ${text}.`];
  const hosts = 1n << BigInt(32 - range.length);
  if (range.address % hosts !== 0n) {
    return [`${called}: expected the address of the network in cidr, found an address in it, ${text}.`];
  }
  const first = Number(range.address >> 24n);
  return first === 0 || first === 127 || first >= 224
    ? [`${called}: expected a network that members can have addresses of, found ${text}.`]
    : [];
}

/** Whether the text is an address, and in the network if that is known. */
function memberAddressFaults(called: string, text: string, range: Cidr | undefined): string[] {
  const found = parseIp(text);
  if (!found) return [`${called}: expected an address such as 10.10.0.1, found ${text}.`];
  if (found.version === 6) return [`${called}: expected an IPv4 address, found ${text}; ${noIpv6}.`];
  if (!range) return [];
  if (!isInNetworkOf(range, found)) return [`${called}: expected an address in the network, found ${text}.`];
  const why = unusable({ ...found, length: range.length });
  return why ? [`${called}: expected an address that a member can have, found ${text}: ${why}.`] : [];
}

function destinationFaults(called: string, text: string): string[] {
  const found = parseCidr(text);
  if (!found) return [`${called}: expected a network such as 0.0.0.0/0 in destinationNetworkCidr, found ${text}.`];
  return found.version === 6
    ? [`${called}: expected an IPv4 network in destinationNetworkCidr, found ${text}; ${noIpv6}.`]
    : [];
}

/** All networks are on one router, which has to know where an address is. */
function overlaps(networks: readonly WorkspaceNetwork[]): string[] {
  const ranges = networks.flatMap(({ name, cidr }) => {
    const range = parseCidr(cidr);
    return range ? [{ name, cidr, range }] : [];
  });
  return ranges.flatMap((one, index) =>
    ranges
      .slice(index + 1)
      .filter(({ range }) => isInNetworkOf(one.range, range) || isInNetworkOf(range, one.range))
      .map(
        (other) =>
          `networks: expected networks that do not overlap, found ${one.name} ${one.cidr} and ${other.name} ${other.cidr}.`,
      ),
  );
}

function interfaceFaults({ called, interfaces }: Member, networks: readonly WorkspaceNetwork[]): string[] {
  const twice = duplicatesOf(interfaces.map(({ network }) => network));
  return [
    ...twice.map((network) => `${called}: expected each network once, found ${network} twice.`),
    ...interfaces.flatMap((one) => interfaceFault(called, one, networks)),
  ];
}

function interfaceFault(
  called: string,
  { network, ipAddress }: WorkspaceInterface,
  networks: readonly WorkspaceNetwork[],
): string[] {
  const found = networks.find(({ name }) => name === network);
  if (!found)
    return [
      `${called}: expected a network of this workspace${describeAmong(networks.map(({ name }) => name))}, found ${network}.`,
    ];
  if (ipAddress === undefined) return [];
  const address = parseCidr(ipAddress);
  if (!address) return [`${called}: expected an address such as 10.10.0.161/24 on ${network}, found ${ipAddress}.`];
  if (address.version === 6)
    return [`${called}: expected an IPv4 address on ${network}, found ${ipAddress}; ${noIpv6}.`];
  const range = parseCidr(found.cidr);
  if (!range || range.version === 6) return [];
  if (!isInNetworkOf(range, address))
    return [`${called}: expected an address in ${found.cidr} (${network}), found ${ipAddress}.`];
  if (address.length !== range.length) {
    return [`${called}: expected the length /${range.length} of ${network} (${found.cidr}), found ${ipAddress}.`];
  }
  const why = unusable(address);
  if (why) return [`${called}: expected an address that a member can have on ${network}, found ${ipAddress}: ${why}.`];
  return parseIp(found.rangeGateway ?? '')?.address === address.address
    ? [`${called}: expected an address that is free on ${network}, found ${ipAddress}, which is its rangeGateway.`]
    : [];
}

function addressesTwice({ name }: WorkspaceNetwork, members: readonly Member[]): string[] {
  const found = members.flatMap(({ called, interfaces }) =>
    interfaces.flatMap(({ network, ipAddress }) =>
      network === name && ipAddress !== undefined ? [{ called, address: bareAddress(ipAddress) }] : [],
    ),
  );
  const groups = [...Map.groupBy(found, ({ address }) => address)];
  return groups
    .filter(([, users]) => users.length > 1)
    .map(
      ([address, users]) =>
        `networks ${name}: expected each address once, found ${address} at ${users.map(({ called }) => called).join(' and ')}.`,
    );
}

function noGatewayLeft(network: WorkspaceNetwork, spec: WorkspaceSpec): string[] {
  const range = parseCidr(network.cidr);
  if (network.rangeGateway !== undefined || !range || range.version === 6 || range.length > 30) return [];
  return freeGateway(network, spec) === undefined
    ? [
        `networks ${network.name}: expected one address of ${network.cidr} left for kube-ovn's gateway, found all in use.`,
      ]
    : [];
}
