import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from './objects.ts';
import { fieldSchemaOf, type Structural, sameKeyed } from './schema-structural.ts';

/** A value in the new object beside the one it replaces in the old. */
interface Pair {
  schema: Structural | undefined;
  value: unknown;
  before: unknown;
}

/** Whether an update left the value at `path`, or something around it, as it was: the API server forgives old faults there (CRDValidationRatcheting). */
export function isUnchanged(root: Structural, object: unknown, oldObject: unknown, path: (string | number)[]): boolean {
  if (path[0] === 'apiVersion' || path[0] === 'kind') return false;
  let pair: Pair = { schema: root, value: object, before: oldObject };
  for (const step of path) {
    if (isDeepStrictEqual(pair.value, pair.before)) return true;
    pair = inside(pair, step);
    if (pair.before === undefined || pair.before === null) return false;
  }
  return isDeepStrictEqual(pair.value, pair.before);
}

function inside({ schema, value, before }: Pair, step: string | number): Pair {
  if (typeof step === 'number') {
    const element: unknown = Array.isArray(value) ? value[step] : undefined;
    return { schema: schema?.items, value: element, before: schema && sameKeyed(schema, before, element) };
  }
  return {
    schema: fieldSchemaOf(schema, step),
    value: isJsonObject(value) ? value[step] : undefined,
    before: isJsonObject(before) ? before[step] : undefined,
  };
}
