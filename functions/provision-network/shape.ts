import type { VirtualNetwork } from '../../shared/resources/kupenstack/virtual-network.ts';
import type { Subnet, SubnetShape } from '../../shared/resources/openstack/network.ts';
import { type Cidr, parseCidr, parseIp, sayIp } from '../../shared/rules/ip-address.ts';
import { canonical } from '../../shared/rules/status-changes.ts';

type Spec = VirtualNetwork['spec'];

/** What a spec says of a subnet; what it does not say is Neutron's to choose. */
export const shapeOf = ({ gatewayIP, allocationPools, disableDhcp }: Spec, cidr: string): SubnetShape => ({
  enable_dhcp: !disableDhcp,
  ...(gatewayIP ? { gateway_ip: gatewayIP } : {}),
  ...(allocationPools?.length ? { allocation_pools: poolsIn(cidr, allocationPools) } : {}),
});

/** What of it differs from a subnet that is there. */
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
  return ip ? sayIp(ip) : canonical(value);
};

/** From the first address that is not the network's own, to the last that is not the broadcast address. */
function poolsIn(cidr: string, pools: NonNullable<Spec['allocationPools']>) {
  const network = parseCidr(cidr);
  const [first, last] = network ? endsOf(network) : ['', ''];
  return pools.map(({ startIP = first, endIP = last }) => ({ start: startIP, end: endIP }));
}

function endsOf({ version, address, length }: Cidr): [string, string] {
  const hosts = BigInt((version === 4 ? 32 : 128) - length);
  const base = (address >> hosts) << hosts;
  const top = base + (1n << hosts) - 1n;
  return [sayIp({ version, address: base + 1n }), sayIp({ version, address: version === 4 ? top - 1n : top })];
}
