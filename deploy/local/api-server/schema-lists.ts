import { isJsonObject } from './objects.ts';
import { type Cause, duplicate, invalid } from './schema-cause.ts';
import { fieldPath, type Structural } from './schema-structural.ts';

/** The repeated elements of lists that are declared as sets or maps (`x-kubernetes-list-type`). */
export function findRepeated(schema: Structural | undefined, value: unknown, path = ''): Cause[] {
  if (!schema) return [];
  if (Array.isArray(value)) {
    const inside = schema.items
      ? value.flatMap((item, index) => findRepeated(schema.items, item, `${path}[${index}]`))
      : [];
    return [...repeatedIn(schema, value, path), ...inside];
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const property = schema.properties?.[name];
    if (property) return findRepeated(property, field, fieldPath(path, name));
    if (typeof schema.additionalProperties !== 'object') return [];
    return findRepeated(schema.additionalProperties, field, `${path}[${name}]`);
  });
}

function repeatedIn(schema: Structural, list: unknown[], path: string): Cause[] {
  if (schema['x-kubernetes-list-type'] === 'set') return repeatedAmong(list, path);
  if (schema['x-kubernetes-list-type'] !== 'map') return [];
  const odd = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (odd >= 0) return [invalid(`${path}[${odd}]`, list[odd], 'must be an object for an array of list-type map')];
  const names = schema['x-kubernetes-list-map-keys'] ?? [];
  return repeatedAmong(
    list.map((item) => keysOf(item, names)),
    path,
  );
}

function keysOf(item: unknown, names: string[]) {
  if (!isJsonObject(item)) return {};
  return Object.fromEntries(names.filter((name) => name in item).map((name) => [name, item[name]]));
}

/** Each repeated value is reported once, where it appears the second time. */
function repeatedAmong(values: unknown[], path: string): Cause[] {
  const times = new Map<string, number>();
  return values.flatMap((value, index) => {
    const text = JSON.stringify(value);
    const seen = (times.get(text) ?? 0) + 1;
    times.set(text, seen);
    return seen === 2 ? [duplicate(`${path}[${index}]`, value)] : [];
  });
}
