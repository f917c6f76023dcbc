import * as z from 'zod';
import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import { listed, only } from './listing.ts';
import { neutronBody } from './neutron-body.ts';
import { changed, newOwned, sees } from './owned.ts';
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
  const { networks, subnets, ports, quotas } = cloud.network;
  const found = (asked: Asked): Network => {
    const { id = '' } = asked.params;
    const known = networks.get(id);
    if (!known || !sees(asked.caller, known, known.shared)) throw neutronRefusals.notFound('Network', id);
    return known;
  };
  return [
    route('GET /v2.0/networks', 'listNetworks', (asked) => {
      const seen = [...networks.values()].filter((each) => sees(asked.caller, each, each.shared));
      return listed(
        cloud,
        'networks',
        seen.map((each) => shownNetwork(cloud, each, asked.caller.isAdmin)),
        asked,
      );
    }),
    route('POST /v2.0/networks', 'createNetwork', ({ caller, body }) => {
      const { network } = neutronBody(NewNetwork, body);
      const { project_id, tenant_id, ...wanted } = network;
      if (wanted.shared && !caller.isAdmin)
        throw new Refusal(
          403,
          '(rule:create_network and rule:create_network:shared) is disallowed by policy',
          'PolicyNotAuthorized',
        );
      checkMtu(wanted.mtu);
      const owned = newOwned(cloud, caller, { ...wanted, project_id: project_id ?? tenant_id });
      const used = [...networks.values()].filter((each) => each.project_id === owned.project_id).length;
      if (quotas.isOver(owned.project_id, 'network', used, 1)) throw neutronRefusals.overQuota('network');
      const made: Network = {
        ...owned,
        admin_state_up: wanted.admin_state_up ?? true,
        mtu: wanted.mtu || largestMtu,
        shared: wanted.shared ?? false,
        segment: ++cloud.network.lastSegment,
      };
      networks.set(made.id, made);
      return ok({ network: shownNetwork(cloud, made, caller.isAdmin) }, 201);
    }),
    route('GET /v2.0/networks/:id', 'showNetwork', (asked) =>
      ok({ network: only(shownNetwork(cloud, found(asked), asked.caller.isAdmin), asked.query.getAll('fields')) }),
    ),
    route('PUT /v2.0/networks/:id', 'updateNetwork', (asked) => {
      const before = found(asked);
      const { network } = neutronBody(ChangedNetwork, asked.body);
      checkMtu(network.mtu);
      const after = changed(cloud, before, network);
      networks.set(after.id, after);
      return ok({ network: shownNetwork(cloud, after, asked.caller.isAdmin) });
    }),
    route('DELETE /v2.0/networks/:id', 'deleteNetwork', (asked) => {
      const { id } = found(asked);
      const held = [...ports.values()].filter(({ network_id }) => network_id === id);
      if (held.length > 0)
        throw neutronRefusals.networkInUse(
          id,
          held.map((port) => port.id),
        );
      for (const subnet of subnets.values()) if (subnet.network_id === id) subnets.delete(subnet.id);
      networks.delete(id);
      return done();
    }),
  ];
}

function checkMtu(mtu: number | undefined) {
  if (mtu !== undefined && mtu > largestMtu)
    throw neutronRefusals.invalid(`Requested MTU is too big, maximum is ${largestMtu}`);
}
