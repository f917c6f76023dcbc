import * as z from 'zod';
import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import { neutronBody } from './neutron-body.ts';
import { changed, sees } from './owned.ts';
import type { Owned } from './state.ts';

const Tags = z.object({ tags: z.array(z.string().min(1).max(255)) });

/** Tags of networks, subnets and ports; unlike Nova's they may hold `/` (neutron 21). */
export function tagRoutes(cloud: Cloud): Route[] {
  const tables = { networks: cloud.network.networks, subnets: cloud.network.subnets, ports: cloud.network.ports };
  return Object.entries(tables).flatMap(([plural, table]) => routesOf(cloud, plural, table as Map<string, Owned>));
}

function routesOf(cloud: Cloud, plural: string, table: Map<string, Owned>): Route[] {
  const found = ({ caller, params: { id = '' } }: Asked) => {
    const known = table.get(id);
    if (!known || !sees(caller, known))
      throw new Refusal(404, `Resource ${plural} ${id} could not be found.`, 'TagResourceNotFound');
    return known;
  };
  const write = (thing: Owned, tags: readonly string[]) => {
    const after = changed(cloud, thing, { tags: [...new Set(tags)] });
    table.set(after.id, after);
    return { tags: after.tags };
  };
  const path = `/v2.0/${plural}/:id/tags`;
  return [
    route(`GET ${path}`, 'listTags', (asked) => ok({ tags: found(asked).tags })),
    route(`PUT ${path}`, 'replaceTags', (asked) => ok(write(found(asked), neutronBody(Tags, asked.body).tags))),
    route(`PUT ${path}/:tag`, 'addTag', (asked) => {
      write(found(asked), [...found(asked).tags, asked.params.tag ?? '']);
      return ok(null, 201);
    }),
    route(`DELETE ${path}/:tag`, 'removeTag', (asked) => {
      const { tags } = found(asked);
      if (!tags.includes(asked.params.tag ?? ''))
        throw new Refusal(404, `Tag ${asked.params.tag} could not be found.`, 'TagNotFound');
      write(
        found(asked),
        tags.filter((tag) => tag !== asked.params.tag),
      );
      return done();
    }),
    route(`DELETE ${path}`, 'removeTags', (asked) => {
      write(found(asked), []);
      return done();
    }),
  ];
}
