import * as z from 'zod';
import { bodyAs } from '../body.ts';
import { type Cloud, microsOf } from '../cloud.ts';
import { pageOf } from '../paging.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import { attachmentRoutes } from './attachments.ts';
import { checkMetadata, createServer } from './create-server.ts';
import { deleteServer } from './delete-server.ts';
import { interfaceRoutes } from './interfaces.ts';
import { listedServers } from './listed-servers.ts';
import { Metadata, ServerName, Tags } from './new-server.ts';
import { mustBeUnlocked, noServer } from './refusals.ts';
import { serverAction, serverActionName } from './server-actions.ts';
import { addressesOf, linksOf, shownServer } from './shown-server.ts';
import type { InstanceAction, Server } from './state.ts';
import { change } from './work.ts';

const ChangedServer = z.object({
  server: z.object({ name: ServerName.optional(), description: z.string().nullish() }),
});
const NewMetadata = z.object({ metadata: Metadata });
const NewTags = z.object({ tags: Tags });

/** Servers, and all that is asked of one. */
export function serverRoutes(cloud: Cloud): Route[] {
  const { servers } = cloud.compute;
  const found = ({ caller, params: { id = '' } }: Asked): Server => {
    const known = servers.get(id);
    if (!known || (!caller.isAdmin && known.projectId !== caller.projectId)) throw noServer(id);
    return known;
  };
  const list = (asked: Asked, path: string, shown: (server: Server) => unknown) => {
    const { items, next } = pageOf(listedServers(cloud, asked), asked.query, ({ id }) => id);
    const href = `${cloud.url}/compute/v2.1${path}?${next}`;
    return ok({ servers: items.map(shown), ...(next !== undefined && { servers_links: [{ rel: 'next', href }] }) });
  };
  return [
    route('GET /servers', 'listServers', (asked) =>
      list(asked, '/servers', ({ id, name }) => ({ id, name, links: linksOf(cloud, 'servers', id) })),
    ),
    route('GET /servers/detail', 'listServers', (asked) =>
      list(asked, '/servers/detail', (server) =>
        // Why a server got to no host stands in cell0, where lists do not look (nova 26).
        shownServer(cloud, server.host === null ? { ...server, fault: undefined } : server, asked),
      ),
    ),
    route('POST /servers', 'createServer', (asked) => {
      const { id } = createServer(cloud, asked);
      const links = linksOf(cloud, 'servers', id);
      const server = {
        id,
        links,
        'OS-DCF:diskConfig': 'MANUAL',
        security_groups: [{ name: 'default' }],
        adminPass: cloud.ids.hex().slice(0, 12),
      };
      return { status: 202, body: { server }, headers: { location: links[0]?.href ?? '' } };
    }),
    route('GET /servers/:id', 'showServer', (asked) => ok({ server: shownServer(cloud, found(asked), asked) })),
    route('PUT /servers/:id', 'updateServer', (asked) => {
      const { name, description } = bodyAs(ChangedServer, asked.body).server;
      change(cloud, found(asked).id, {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
      });
      return ok({ server: shownServer(cloud, found(asked), asked) });
    }),
    route('DELETE /servers/:id', 'deleteServer', (asked) => deleteServer(cloud, found(asked), asked)),
    route('POST /servers/:id/action', serverActionName, (asked) => {
      if (!servers.has(asked.params.id ?? ''))
        throw new Refusal(404, `Instance ${asked.params.id} has no mapping to a cell.`);
      return serverAction(cloud, found(asked), asked);
    }),
    route('GET /servers/:id/ips', 'listAddresses', (asked) => {
      const networks = Object.entries(addressesOf(cloud, found(asked)));
      const plain = networks.map(([name, all]) => [name, all.map(({ version, addr }) => ({ version, addr }))]);
      return ok({ addresses: Object.fromEntries(plain) });
    }),
    ...detailRoutes(cloud, found),
    ...attachmentRoutes(cloud, found),
    ...interfaceRoutes(cloud, found),
  ];
}

function detailRoutes(cloud: Cloud, found: (asked: Asked) => Server): Route[] {
  const putMetadata = (asked: Asked, metadata: Record<string, string>) => {
    const server = found(asked);
    mustBeUnlocked(server, asked);
    checkMetadata(cloud, server.projectId, metadata);
    change(cloud, server.id, { metadata });
    return ok({ metadata });
  };
  return [
    route('GET /servers/:id/metadata', 'showServerMetadata', (asked) => ok({ metadata: found(asked).metadata })),
    route('POST /servers/:id/metadata', 'updateServerMetadata', (asked) =>
      putMetadata(asked, { ...found(asked).metadata, ...bodyAs(NewMetadata, asked.body).metadata }),
    ),
    route('PUT /servers/:id/metadata', 'replaceServerMetadata', (asked) =>
      putMetadata(asked, bodyAs(NewMetadata, asked.body).metadata),
    ),
    route('GET /servers/:id/tags', 'listServerTags', (asked) => ok({ tags: found(asked).tags })),
    route('PUT /servers/:id/tags', 'replaceServerTags', (asked) => {
      const tags = [...new Set(bodyAs(NewTags, asked.body).tags)];
      change(cloud, found(asked).id, { tags });
      return ok({ tags });
    }),
    route('GET /servers/:id/os-instance-actions', 'listInstanceActions', (asked) => {
      const { id, actions } = found(asked);
      return ok({ instanceActions: actions.toReversed().map((each) => shownAction(id, each, asked.minor)) });
    }),
    route('GET /servers/:id/os-instance-actions/:request', 'showInstanceAction', (asked) => {
      const { id, actions } = found(asked);
      const action = actions.find(({ requestId }) => requestId === asked.params.request);
      if (!action) throw new Refusal(404, `Action for request_id ${asked.params.request} on instance ${id} not found`);
      return ok({ instanceAction: shownAction(id, action, asked.minor) });
    }),
    route('DELETE /servers/:id/metadata/:key', 'deleteServerMetadata', (asked) => {
      const { [asked.params.key ?? '']: former, ...metadata } = found(asked).metadata;
      if (former === undefined) throw new Refusal(404, 'Metadata item was not found');
      change(cloud, found(asked).id, { metadata });
      return done();
    }),
  ];
}

const shownAction = (
  id: string,
  { action, requestId, userId, projectId, startMs, updatedMs, message }: InstanceAction,
  minor: number,
) => ({
  action,
  instance_uuid: id,
  request_id: requestId,
  user_id: userId,
  project_id: projectId,
  start_time: microsOf(startMs),
  message,
  ...(minor >= 58 && { updated_at: microsOf(updatedMs) }),
});
