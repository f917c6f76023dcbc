import * as z from 'zod';
import type { Cloud } from '../cloud.ts';
import type { Caller } from '../identity/state.ts';
import type { Route } from '../route.ts';
import { addressesIn, freeAddress, isUsable } from './addresses.ts';
import { neutronBody } from './neutron-body.ts';
import { changed, newOwned, ownedRoutes, sees } from './owned.ts';
import { neutronRefusals } from './refusals.ts';
import { shownPort } from './shown.ts';
import type { FixedIp, Port } from './state.ts';

const text = z.string().max(255);
const FixedIps = z.array(z.strictObject({ subnet_id: z.string().optional(), ip_address: z.string().optional() }));
const Changes = z.object({
  name: text.optional(),
  description: text.optional(),
  admin_state_up: z.boolean().optional(),
  device_id: text.optional(),
  device_owner: text.optional(),
  fixed_ips: FixedIps.optional(),
  'binding:host_id': z.string().nullish(),
});
const NewPort = z.object({
  port: Changes.extend({
    network_id: z.string(),
    mac_address: z.string().optional(),
    project_id: z.string().optional(),
    tenant_id: z.string().optional(),
  }),
});
const ChangedPort = z.object({ port: Changes });
type WantedPort = z.infer<typeof NewPort>['port'];

export const portRoutes = (cloud: Cloud): Route[] =>
  ownedRoutes(cloud, {
    name: 'Port',
    // A port is deleted also while a server has it: the server loses the interface (neutron 21: 204).
    table: cloud.network.ports,
    shown: (port, isAdmin) => shownPort(cloud, port, isAdmin),
    made: ({ caller, body }) => makePort(cloud, caller, neutronBody(NewPort, body).port),
    changed: (before, { body }) => {
      const { 'binding:host_id': host, fixed_ips, ...wanted } = neutronBody(ChangedPort, body).port;
      return changed(cloud, before, {
        ...wanted,
        ...(host !== undefined && { host: host ?? '' }),
        ...(fixed_ips && { fixed_ips: addressesFor(cloud, before.network_id, fixed_ips, before.id) }),
      });
    },
  });

/** Makes a port with addresses of its network; refuses where there is no such network, no address or no quota left. */
export function makePort(cloud: Cloud, caller: Caller, wanted: WantedPort): Port {
  const { networks, ports } = cloud.network;
  const network = networks.get(wanted.network_id);
  if (!network || !sees(caller, network, network.shared)) throw neutronRefusals.notFound('Network', wanted.network_id);
  const owned = newOwned(cloud, caller, 'port', { ...wanted, project_id: wanted.project_id ?? wanted.tenant_id });
  const made: Port = {
    ...owned,
    network_id: network.id,
    admin_state_up: wanted.admin_state_up ?? true,
    mac_address: wanted.mac_address ?? cloud.ids.mac(),
    fixed_ips: addressesFor(cloud, network.id, wanted.fixed_ips),
    device_id: wanted.device_id ?? '',
    device_owner: wanted.device_owner ?? '',
    host: wanted['binding:host_id'] ?? '',
  };
  ports.set(made.id, made);
  return made;
}

function addressesFor(
  cloud: Cloud,
  network: string,
  wanted: z.infer<typeof FixedIps> | undefined,
  port?: string,
): FixedIp[] {
  const own = [...cloud.network.subnets.values()].filter(({ network_id }) => network_id === network);
  const others = [...cloud.network.ports.values()].filter(({ id }) => id !== port);
  if (wanted) return wanted.map((each) => addressFor(own, network, each, others));
  return ([4, 6] as const).flatMap((version) => {
    const family = own.filter(({ ip_version }) => ip_version === version);
    if (family.length === 0) return [];
    for (const subnet of family) {
      const ip_address = freeAddress(subnet, addressesIn(subnet.id, others));
      if (ip_address !== undefined) return [{ subnet_id: subnet.id, ip_address }];
    }
    throw neutronRefusals.noAddress(network);
  });
}

type Wanted = z.infer<typeof FixedIps>[number];

function addressFor(
  own: readonly Parameters<typeof freeAddress>[0][],
  network: string,
  wanted: Wanted,
  others: readonly Port[],
): FixedIp {
  const { subnet_id, ip_address } = wanted;
  const subnet = own.find((each) =>
    subnet_id === undefined ? isUsable(each, ip_address ?? '') : each.id === subnet_id,
  );
  if (!subnet && ip_address !== undefined && subnet_id === undefined)
    throw neutronRefusals.badAddressAnywhere(ip_address);
  if (!subnet) throw neutronRefusals.notFound('Subnet', subnet_id ?? '');
  const taken = addressesIn(subnet.id, others);
  if (ip_address !== undefined && !isUsable(subnet, ip_address)) throw neutronRefusals.badAddress(ip_address);
  if (ip_address !== undefined && taken.has(ip_address)) throw neutronRefusals.addressTaken(ip_address, subnet.id);
  const given = ip_address ?? freeAddress(subnet, taken);
  if (given === undefined) throw neutronRefusals.noAddress(network);
  return { subnet_id: subnet.id, ip_address: given };
}
