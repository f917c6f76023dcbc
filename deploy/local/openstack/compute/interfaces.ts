import * as z from 'zod';
import { bodyAs } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { makePort } from '../network/ports.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import { bindPort, unbindPort } from './ports.ts';
import { mustBeUnlocked } from './refusals.ts';
import { mustBeAllowed } from './server-actions.ts';
import type { Server, ServerPort } from './state.ts';
import { change, note, whenHostIsUp } from './work.ts';

const NewInterface = z.object({
  interfaceAttachment: z
    .object({ port_id: z.guid().optional(), net_id: z.guid().optional(), tag: z.string().optional() })
    .default({}),
});
const from = ['active', 'paused', 'stopped'] as const;

/** Ports of a server: `found` gives the server that the path names. */
export function interfaceRoutes(cloud: Cloud, found: (asked: Asked) => Server): Route[] {
  const { ports } = cloud.network;
  const path = '/servers/:id/os-interface';
  const held = (asked: Asked) =>
    found(asked).ports.find(({ portId }) => portId === asked.params.port && ports.has(portId));
  return [
    route(`GET ${path}`, 'listInterfaces', (asked) =>
      ok({
        interfaceAttachments: found(asked)
          .ports.filter(({ portId }) => ports.has(portId))
          .map((each) => shown(cloud, each, asked)),
      }),
    ),
    route(`POST ${path}`, 'attachPort', (asked) => attachPort(cloud, found(asked), asked)),
    route(`GET ${path}/:port`, 'showInterface', (asked) => {
      const known = held(asked);
      if (!known)
        throw new Refusal(404, `Instance ${asked.params.id} does not have a port with id ${asked.params.port}`);
      return ok({ interfaceAttachment: shown(cloud, known, asked) });
    }),
    route(`DELETE ${path}/:port`, 'detachPort', (asked) => {
      const server = found(asked);
      mustBeUnlocked(server, asked);
      mustBeAllowed(server, { name: 'detach_interface', from });
      const known = held(asked);
      note(cloud, server.id, 'detach_interface', asked);
      cloud.clock.after(cloud.times.detach, () =>
        whenHostIsUp(cloud, () => {
          const now = cloud.compute.servers.get(server.id)?.ports ?? [];
          // A port of another server is not reported: only the action fails.
          if (!known || !now.includes(known)) return;
          change(cloud, server.id, { ports: now.filter((each) => each !== known) });
          unbindPort(cloud, known);
        }),
      );
      return done(202);
    }),
  ];
}

function attachPort(cloud: Cloud, server: Server, asked: Asked) {
  const { port_id, net_id } = bodyAs(NewInterface, asked.body).interfaceAttachment;
  if (port_id !== undefined && net_id !== undefined)
    throw new Refusal(400, 'Must not input both network_id and port_id');
  mustBeUnlocked(server, asked);
  mustBeAllowed(server, { name: 'attach_interface', from });
  const attached = port_id === undefined ? newPort(cloud, asked, net_id ?? '') : freePort(cloud, asked, port_id);
  bindPort(cloud, attached.portId, server.id);
  change(cloud, server.id, { ports: [...server.ports, attached] });
  note(cloud, server.id, 'attach_interface', asked);
  return ok({ interfaceAttachment: shown(cloud, attached, asked) });
}

function freePort(cloud: Cloud, { caller }: Asked, id: string): ServerPort {
  const port = cloud.network.ports.get(id);
  if (!port || (!caller.isAdmin && port.project_id !== caller.projectId))
    throw new Refusal(404, `Port id ${id} could not be found.`);
  if (port.device_id) throw new Refusal(409, `Port ${id} is still in use.`);
  if (port.fixed_ips.length === 0) throw new Refusal(400, `Port ${id} requires a FixedIP in order to be used.`);
  return { portId: id, isNovas: false };
}

function newPort(cloud: Cloud, { caller }: Asked, network: string): ServerPort {
  if (!cloud.network.networks.has(network)) throw unexpected();
  return { portId: makePort(cloud, caller, { network_id: network }).id, isNovas: true };
}

/** Nova 26 does not expect a network that is not there. */
const unexpected = () =>
  new Refusal(
    500,
    "Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/ and attach the Nova API log if possible.\n<class 'neutronclient.common.exceptions.NetworkNotFoundClient'>",
  );

function shown({ network }: Cloud, { portId }: ServerPort, { minor }: Asked) {
  const port = network.ports.get(portId);
  return {
    net_id: port?.network_id,
    port_id: portId,
    mac_addr: port?.mac_address,
    port_state: port?.host ? 'ACTIVE' : 'DOWN',
    fixed_ips: port?.fixed_ips.map(({ subnet_id, ip_address }) => ({ subnet_id, ip_address })),
    ...(minor >= 70 && { tag: null }),
  };
}
