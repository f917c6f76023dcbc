import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { statusOf, type Write } from './write.ts';

/** As a merge patch, what of a status is to change: null for what goes; undefined where all stands already. */
export function statusPatch(before: object | undefined, after: object): Record<string, unknown> | undefined {
  const [old, next] = [stored(before), stored(after)];
  const changed = Object.entries(next).filter(([key, value]) => !isDeepStrictEqual(old[key], value));
  const gone = Object.keys(old).filter((key) => !(key in next));
  if (changed.length === 0 && gone.length === 0) return undefined;
  return { ...Object.fromEntries(changed), ...Object.fromEntries(gone.map((key) => [key, null])) };
}

/** Writes what of an object's status is to change, if anything. */
export function statusChange(
  resource: Resource,
  object: KubernetesObject & { status?: object | undefined },
  after: object,
  before = object.status,
): Write[] {
  const patch = statusPatch(before, after);
  return patch ? [statusOf(resource, object, patch)] : [];
}

/** What a merge patch can store: nothing undefined, and no null, not even within lists, or it would be written again for ever. */
const stored = (status: object = {}): Record<string, unknown> =>
  JSON.parse(JSON.stringify(status), (_, value) => value ?? undefined);
