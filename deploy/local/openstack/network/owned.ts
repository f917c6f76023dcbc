import type { Cloud } from '../cloud.ts';
import type { Caller } from '../identity/state.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import { listed, only, type Shown } from './listing.ts';
import { neutronRefusals } from './refusals.ts';
import type { Owned } from './state.ts';

/** Whether a user sees an object: it belongs to the user's project, is shared, or the user is an administrator. */
export const sees = (caller: Caller, { project_id }: Owned, isShared = false) =>
  caller.isAdmin || isShared || project_id === caller.projectId;

/** What a new network, subnet or port begins with; only an administrator makes things for others, and only up to the quota. */
export function newOwned(
  cloud: Cloud,
  caller: Caller,
  kind: 'network' | 'subnet' | 'port',
  wanted: { name?: string | undefined; description?: string | undefined; project_id?: string | undefined },
): Owned {
  const project_id = wanted.project_id ?? caller.projectId;
  if (project_id !== caller.projectId && !caller.isAdmin) throw neutronRefusals.notYours();
  const nowMs = cloud.clock.now();
  const { defaultGroups, quotas, [`${kind}s` as const]: table } = cloud.network;
  if (!defaultGroups.has(project_id)) defaultGroups.set(project_id, cloud.ids.uuid());
  const used = [...table.values()].filter((each) => each.project_id === project_id).length;
  if (quotas.isOver(project_id, kind, used, 1)) throw neutronRefusals.overQuota(kind);
  return {
    id: cloud.ids.uuid(),
    name: wanted.name ?? '',
    description: wanted.description ?? '',
    project_id,
    tags: [],
    createdMs: nowMs,
    updatedMs: nowMs,
    revision: 1,
  };
}

/** The same thing with some fields changed. */
export function changed<Thing extends Owned>(cloud: Cloud, thing: Thing, changes: object): Thing {
  const said = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  return { ...thing, ...said, updatedMs: cloud.clock.now(), revision: thing.revision + 1 };
}

/** What Neutron does with one kind of thing. Each function refuses what it cannot do. */
interface Kind<Thing extends Owned> {
  name: 'Network' | 'Subnet' | 'Port';
  table: Map<string, Thing>;
  isShared?(thing: Thing): boolean;
  shown(thing: Thing, isAdmin: boolean): Shown;
  made(asked: Asked): Thing;
  changed(thing: Thing, asked: Asked): Thing;
  /** Before the thing is deleted. */
  release?(thing: Thing): void;
}

/** The routes that networks, subnets and ports have in common: list, create, show, update, delete. */
export function ownedRoutes<Thing extends Owned>(cloud: Cloud, kind: Kind<Thing>): Route[] {
  const { name, table } = kind;
  const singular = name.toLowerCase();
  const path = `/v2.0/${singular}s`;
  const isSeen = (caller: Caller, thing: Thing) => sees(caller, thing, kind.isShared?.(thing));
  const found = ({ caller, params: { id = '' } }: Asked): Thing => {
    const known = table.get(id);
    if (!known || !isSeen(caller, known)) throw neutronRefusals.notFound(name, id);
    return known;
  };
  const keep = (thing: Thing, { caller }: Asked, status = 200) => {
    table.set(thing.id, thing);
    return ok({ [singular]: kind.shown(thing, caller.isAdmin) }, status);
  };
  return [
    route(`GET ${path}`, `list${name}s`, (asked) => {
      const seen = [...table.values()].filter((each) => isSeen(asked.caller, each));
      const shown = seen.map((each) => kind.shown(each, asked.caller.isAdmin));
      return listed(cloud, `${singular}s`, shown, asked);
    }),
    route(`POST ${path}`, `create${name}`, (asked) => keep(kind.made(asked), asked, 201)),
    route(`GET ${path}/:id`, `show${name}`, (asked) =>
      ok({ [singular]: only(kind.shown(found(asked), asked.caller.isAdmin), asked.query.getAll('fields')) }),
    ),
    route(`PUT ${path}/:id`, `update${name}`, (asked) => keep(kind.changed(found(asked), asked), asked)),
    route(`DELETE ${path}/:id`, `delete${name}`, (asked) => {
      const thing = found(asked);
      kind.release?.(thing);
      table.delete(thing.id);
      return done();
    }),
  ];
}
