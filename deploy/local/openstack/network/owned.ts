import type { Cloud } from '../cloud.ts';
import type { Caller } from '../identity/state.ts';
import { neutronRefusals } from './refusals.ts';
import type { Owned } from './state.ts';

/** Whether a user sees an object: it belongs to the user's project, is shared, or the user is an administrator. */
export const sees = (caller: Caller, { project_id }: Owned, isShared = false) =>
  caller.isAdmin || isShared || project_id === caller.projectId;

/** What a new network, subnet or port begins with; only an administrator makes things for others. */
export function newOwned(
  cloud: Cloud,
  caller: Caller,
  wanted: { name?: string | undefined; description?: string | undefined; project_id?: string | undefined },
): Owned {
  const project_id = wanted.project_id ?? caller.projectId;
  if (project_id !== caller.projectId && !caller.isAdmin) throw neutronRefusals.notYours();
  const nowMs = cloud.clock.now();
  const { defaultGroups } = cloud.network;
  if (!defaultGroups.has(project_id)) defaultGroups.set(project_id, cloud.ids.uuid());
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
