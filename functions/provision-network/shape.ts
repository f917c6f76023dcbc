import type { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import type { Subnet, SubnetShape } from '../../shared/kinds/openstack/network.ts';
import { canonical } from '../../shared/kubernetes/status-changes.ts';
import { type Cidr, formatIp, parseCidr, parseIp } from '../../shared/machines/ip-address.ts';

type Spec = VirtualNetwork['spec'];

/** What a spec says of a subnet; what it does not say is Neutron's to choose. */
export const shapeOf = ({ gatewayIP, allocationPools, disableDhcp }: Spec, cidr: string): SubnetShape => ({
  enable_dhcp: !disableDhcp,
  ...(gatewayIP ? { gateway_ip: gatewayIP } : {}),
  ...(allocationPools?.length ? { allocation_pools: poolsIn(cidr, allocationPools, gatewayIP) } : {}),
});

/** The fields in which it differs from an existing subnet. */
export function shapeChanges(spec: Spec, subnet: Subnet): SubnetShape | undefined {
  const wanted = Object.entries(shapeOf(spec, subnet.cidr));
  const found = subnet as unknown as Readonly<Record<string, unknown>>;
  const changes = wanted.filter(([key, value]) => comparable(value) !== comparable(found[key]));
  return changes.length > 0 ? Object.fromEntries(changes) : undefined;
}

/** Neutron hands pools back in an order, and addresses in a spelling, of its own. */
const comparable = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(comparable).sort().join();
  if (typeof value === 'object' && value !== null)
    return canonical(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, comparable(inner)])));
  const ip = typeof value === 'string' ? parseIp(value) : undefined;
  return ip ? formatIp(ip) : canonical(value);
};

/**
 * From the first address that is not the network's own, to the last that is not the broadcast address; without the gateway, which
 * is the first one where none is given (neutron 21: 409 for a pool that has it).
 */
function poolsIn(cidr: string, pools: NonNullable<Spec['allocationPools']>, gatewayIP: string | undefined) {
  const network = parseCidr(cidr);
  const [first, last] = network ? endsOf(network, gatewayIP) : ['', ''];
  return pools.map(({ startIP = first, endIP = last }) => ({ start: startIP, end: endIP }));
}

function endsOf({ version, address, length }: Cidr, gatewayIP: string | undefined): [string, string] {
  const hosts = BigInt((version === 4 ? 32 : 128) - length);
  const base = (address >> hosts) << hosts;
  const top = base + (1n << hosts) - 1n;
  const [first, last] = [base + 1n, version === 4 ? top - 1n : top];
  const gateway = (gatewayIP === undefined ? undefined : parseIp(gatewayIP)?.address) ?? first;
  const [from, to] = [gateway === first ? first + 1n : first, gateway === last ? last - 1n : last];
  return [formatIp({ version, address: from }), formatIp({ version, address: to })];
}
