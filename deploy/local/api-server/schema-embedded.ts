import { isJsonObject, type JsonObject } from './objects.ts';
import { type Cause, invalid, required } from './schema-cause.ts';
import { fieldPath, fieldSchemaOf, type Structural } from './schema-structural.ts';

/** What is missing in whole objects inside the object (`x-kubernetes-embedded-resource`). */
export function findIncomplete(schema: Structural | undefined, value: unknown, path = ''): Cause[] {
  if (!schema) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => findIncomplete(schema.items, item, `${path}[${index}]`));
  }
  if (!isJsonObject(value)) return [];
  const inside = Object.entries(value).flatMap(([name, field]) =>
    findIncomplete(fieldSchemaOf(schema, name), field, fieldPath(path, name)),
  );
  return schema['x-kubernetes-embedded-resource'] ? [...typeCauses(value, path), ...inside] : inside;
}

function typeCauses(object: JsonObject, path: string): Cause[] {
  return ['apiVersion', 'kind'].flatMap((name) => {
    const value = object[name];
    const field = fieldPath(path, name);
    if (value === undefined) return [required(field)];
    if (typeof value !== 'string') return [invalid(field, value, 'must be a string')];
    return value === '' ? [invalid(field, value, 'must not be empty')] : [];
  });
}
