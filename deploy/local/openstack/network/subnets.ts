import * as z from 'zod';
import { cidrIn, overlap } from '../../cidr.ts';
import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import type { Asked, Route } from '../route.ts';
import { checkGateway, checkPools, defaultGateway, defaultPools } from './addresses.ts';
import { neutronBody } from './neutron-body.ts';
import { changed, newOwned, ownedRoutes, sees } from './owned.ts';
import { neutronRefusals } from './refusals.ts';
import { shownSubnet } from './shown.ts';
import type { Network, Subnet } from './state.ts';

const address = z.union([z.ipv4(), z.ipv6()]);
const text = z.string().max(255);
const Changes = z.strictObject({
  name: text.optional(),
  description: text.optional(),
  gateway_ip: address.nullish(),
  enable_dhcp: z.boolean().optional(),
  allocation_pools: z.array(z.strictObject({ start: address, end: address })).optional(),
  dns_nameservers: z.array(z.string()).optional(),
  host_routes: z.array(z.strictObject({ destination: z.string(), nexthop: address })).optional(),
});
const NewSubnet = z.object({
  subnet: Changes.extend({
    network_id: z.string(),
    cidr: z.string().optional(),
    ip_version: z.union([z.literal(4), z.literal(6)]),
    project_id: z.string().optional(),
    tenant_id: z.string().optional(),
  }),
});
const ChangedSubnet = z.object({ subnet: Changes });

export function subnetRoutes(cloud: Cloud): Route[] {
  const { networks, subnets, ports } = cloud.network;
  return ownedRoutes(cloud, {
    name: 'Subnet',
    table: subnets,
    isShared: ({ network_id }) => networks.get(network_id)?.shared ?? false,
    shown: shownSubnet,
    made: (asked) => newSubnet(cloud, asked),
    changed: (before, { body }) => {
      const after = changed(cloud, before, neutronBody(ChangedSubnet, body).subnet);
      const range = cidrIn(after.cidr);
      if (range) checkGateway(after.gateway_ip, range);
      if (range) checkPools(after.allocation_pools, range, after.gateway_ip);
      return after;
    },
    release: ({ id }) => {
      const isUsed = [...ports.values()].some(({ fixed_ips }) => fixed_ips.some(({ subnet_id }) => subnet_id === id));
      if (isUsed) throw neutronRefusals.subnetInUse(id);
    },
  });
}

function newSubnet(cloud: Cloud, { caller, body }: Asked): Subnet {
  const { subnet: wanted } = neutronBody(NewSubnet, body);
  const { networks, subnets } = cloud.network;
  const network = networks.get(wanted.network_id);
  if (!network || !sees(caller, network, network.shared)) throw neutronRefusals.notFound('Network', wanted.network_id);
  const range = rangeOf(wanted, network, [...subnets.values()]);
  const gateway_ip = wanted.gateway_ip === undefined ? defaultGateway(range) : wanted.gateway_ip;
  checkGateway(gateway_ip, range);
  const allocation_pools = wanted.allocation_pools ?? defaultPools(range, gateway_ip);
  checkPools(allocation_pools, range, gateway_ip);
  const owned = newOwned(cloud, caller, 'subnet', {
    name: wanted.name,
    description: wanted.description,
    project_id: wanted.project_id ?? wanted.tenant_id ?? network.project_id,
  });
  return {
    ...owned,
    revision: 0,
    network_id: network.id,
    ip_version: wanted.ip_version,
    cidr: range.text,
    gateway_ip,
    enable_dhcp: wanted.enable_dhcp ?? true,
    allocation_pools,
    dns_nameservers: wanted.dns_nameservers ?? [],
    host_routes: wanted.host_routes ?? [],
  };
}

function rangeOf(
  { cidr, ip_version }: { cidr?: string | undefined; ip_version: 4 | 6 },
  network: Network,
  others: readonly Subnet[],
) {
  if (cidr === undefined)
    throw new Refusal(
      400,
      'Bad subnets request: a subnetpool must be specified in the absence of a cidr.',
      'BadRequest',
    );
  const range = cidrIn(cidr);
  if (!range) throw neutronRefusals.invalid(`${cidr} is not in a CIDR format`);
  if (range.bits !== (ip_version === 4 ? 32 : 128))
    throw neutronRefusals.invalid(`cidr '${cidr}' does not match the ip_version '${ip_version}'`);
  const met = others.find((other) => {
    const theirs = cidrIn(other.cidr);
    return other.network_id === network.id && theirs !== undefined && overlap(range, theirs);
  });
  if (met)
    throw neutronRefusals.invalid(
      `Requested subnet with cidr: ${range.text} for network: ${network.id} overlaps with another subnet`,
    );
  return range;
}
