import type { Cloud } from '../cloud.ts';
import { asksForAll, hasAskedTags, isAsked } from '../listing.ts';
import { Refusal } from '../refusal.ts';
import type { Asked } from '../route.ts';
import { statusOf } from './server-machine.ts';
import type { Server } from './state.ts';

/** The servers that a list is asked for, newest first; `name` is a regular expression (nova 26). */
export function listedServers({ compute }: Cloud, asked: Asked): Server[] {
  const { caller, query, minor } = asked;
  const isAll = asksForAll(query);
  if (isAll && !caller.isAdmin)
    throw new Refusal(
      403,
      `Policy doesn't allow os_compute_api:servers:${asked.path.endsWith('/detail') ? 'detail' : 'index'}:get_all_tenants to be performed.`,
    );
  const name = pattern(query.get('name'));
  const project = caller.isAdmin && isAll ? (query.get('project_id') ?? query.get('tenant_id')) : caller.projectId;
  return [...compute.servers.values()]
    .filter(
      (server) =>
        (project === null || server.projectId === project) &&
        server.vmState !== 'deleted' &&
        name.test(server.name) &&
        hasStatus(server, query.getAll('status')) &&
        isAsked(query, 'uuid', server.id) &&
        isAsked(query, 'flavor', server.flavor.id) &&
        (!caller.isAdmin || isAsked(query, 'host', server.host ?? '')) &&
        (minor < 26 || hasAskedTags(server.tags, query)),
    )
    .reverse();
}

function pattern(text: string | null): RegExp {
  try {
    return new RegExp(text ?? '');
  } catch {
    throw new Refusal(400, `Invalid input for query parameters name. Value: ${text}.`);
  }
}

const hasStatus = (server: Server, statuses: readonly string[]) =>
  statuses.length === 0 || statuses.some((status) => status.toUpperCase() === statusOf(server));
