import { type Cloud, microsOf } from '../cloud.ts';
import { pageOf } from '../paging.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, ok, type Route, route } from '../route.ts';
import { attachmentRoutes } from './attachments.ts';
import { createServer } from './create-server.ts';
import { deleteServer } from './delete-server.ts';
import { interfaceRoutes } from './interfaces.ts';
import { listedServers } from './listed-servers.ts';
import { noServer } from './refusals.ts';
import { serverAction, serverActionName } from './server-actions.ts';
import { linksOf, shownServer } from './shown-server.ts';
import type { InstanceAction, Server } from './state.ts';

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
    route('DELETE /servers/:id', 'deleteServer', (asked) => deleteServer(cloud, found(asked), asked)),
    route('POST /servers/:id/action', serverActionName, (asked) => {
      if (!servers.has(asked.params.id ?? ''))
        throw new Refusal(404, `Instance ${asked.params.id} has no mapping to a cell.`);
      return serverAction(cloud, found(asked), asked);
    }),
    route('GET /servers/:id/os-instance-actions', 'listInstanceActions', (asked) => {
      const { id, actions } = found(asked);
      return ok({ instanceActions: actions.toReversed().map((each) => shownAction(id, each, asked.minor)) });
    }),
    ...attachmentRoutes(cloud, found),
    ...interfaceRoutes(cloud, found),
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
