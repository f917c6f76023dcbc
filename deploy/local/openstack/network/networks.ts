import * as z from 'zod';
import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import type { Asked, Route } from '../route.ts';
import { neutronBody } from './neutron-body.ts';
import { changed, newOwned, ownedRoutes } from './owned.ts';
import { neutronRefusals } from './refusals.ts';
import { shownNetwork } from './shown.ts';
import type { Network } from './state.ts';

/** What a VXLAN on a wire of 1500 leaves. */
const largestMtu = 1450;
const text = z.string().max(255);
const Changes = z.strictObject({
  name: text.optional(),
  description: text.optional(),
  admin_state_up: z.boolean().optional(),
  mtu: z.number().int().min(0).optional(),
  shared: z.boolean().optional(),
});
const NewNetwork = z.object({
  network: Changes.extend({ project_id: z.string().optional(), tenant_id: z.string().optional() }),
});
const ChangedNetwork = z.object({ network: Changes });

export function networkRoutes(cloud: Cloud): Route[] {
  const { networks, subnets, ports } = cloud.network;
  return ownedRoutes(cloud, {
    name: 'Network',
    table: networks,
    isShared: ({ shared }) => shared,
    shown: (network, isAdmin) => shownNetwork(cloud, network, isAdmin),
    made: (asked) => newNetwork(cloud, asked),
    changed: (before, { body }) => {
      const { network } = neutronBody(ChangedNetwork, body);
      checkMtu(network.mtu);
      return changed(cloud, before, network);
    },
    release: ({ id }) => {
      const held = [...ports.values()].filter(({ network_id }) => network_id === id).map((port) => port.id);
      if (held.length > 0) throw neutronRefusals.networkInUse(id, held);
      for (const subnet of subnets.values()) if (subnet.network_id === id) subnets.delete(subnet.id);
    },
  });
}

function newNetwork(cloud: Cloud, { caller, body }: Asked): Network {
  const { project_id, tenant_id, ...wanted } = neutronBody(NewNetwork, body).network;
  if (wanted.shared && !caller.isAdmin)
    throw new Refusal(
      403,
      '(rule:create_network and rule:create_network:shared) is disallowed by policy',
      'PolicyNotAuthorized',
    );
  checkMtu(wanted.mtu);
  const owned = newOwned(cloud, caller, 'network', { ...wanted, project_id: project_id ?? tenant_id });
  return {
    ...owned,
    admin_state_up: wanted.admin_state_up ?? true,
    mtu: wanted.mtu || largestMtu,
    shared: wanted.shared ?? false,
    segment: ++cloud.network.lastSegment,
  };
}

function checkMtu(mtu: number | undefined) {
  if (mtu !== undefined && mtu > largestMtu)
    throw neutronRefusals.invalid(`Requested MTU is too big, maximum is ${largestMtu}`);
}
