import { isJsonObject, type JsonObject } from './objects.ts';
import { isForbiddenNull } from './schema-defaults.ts';
import { fieldPath, fieldSchemaOf, type Structural } from './schema-structural.ts';

const META_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/** Drops, in place, what the schema does not know, and says what; also nulls that may not be. The root keeps apiVersion, kind and metadata. */
export function prune(schema: Structural, object: JsonObject): string[] {
  const dropped: string[] = [];
  pruneValue({ ...schema, 'x-kubernetes-embedded-resource': true }, object, '', dropped);
  pruneNulls(schema, object);
  return dropped.sort();
}

/** A null without a default is no value; one with a default is left for that to replace. */
function pruneNulls(schema: Structural | undefined, value: unknown) {
  if (Array.isArray(value)) for (const item of value) pruneNulls(schema?.items, item);
  if (!isJsonObject(value)) return;
  for (const [name, field] of Object.entries(value)) {
    const fieldSchema = fieldSchemaOf(schema, name);
    if (isForbiddenNull(fieldSchema, field) && fieldSchema?.default === undefined) delete value[name];
    else pruneNulls(fieldSchema, field);
  }
}

function pruneValue(schema: Structural | undefined, value: unknown, path: string, dropped: string[]) {
  const keepsUnknown = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  if (Array.isArray(value)) {
    const items = keepsUnknown && schema?.items ? keeping(schema.items) : schema?.items;
    if (keepsUnknown && !items) return;
    for (const [index, item] of value.entries()) pruneValue(items, item, `${path}[${index}]`, dropped);
  }
  if (isJsonObject(value)) pruneFields(schema, value, path, dropped);
}

function pruneFields(schema: Structural | undefined, object: JsonObject, path: string, dropped: string[]) {
  for (const [name, value] of Object.entries(object)) {
    if (schema?.['x-kubernetes-embedded-resource'] && META_FIELDS.has(name)) continue;
    const property = schema?.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const valueSchema = schema?.additionalProperties;
    if (property) pruneValue(property, value, fieldPath(path, name), dropped);
    else if (valueSchema) {
      pruneValue(valueSchema === true ? undefined : valueSchema, value, fieldPath(path, name), dropped);
    } else if (!schema?.['x-kubernetes-preserve-unknown-fields']) {
      dropped.push(fieldPath(path, name));
      delete object[name];
    }
  }
}

const keeping = (schema: Structural): Structural => ({ ...schema, 'x-kubernetes-preserve-unknown-fields': true });
