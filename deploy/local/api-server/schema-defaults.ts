import { isJsonObject, type JsonObject } from './objects.ts';
import { fieldSchemaOf, type Structural, valueSchemaOf } from './schema-structural.ts';

/** Fills in, in place, the defaults of absent fields, as CustomResourceDefinitions do; a null that may not be null counts as absent. */
export function applyDefaults(schema: Structural | undefined, value: unknown): void {
  if (!schema || !hasDefault(schema)) return;
  if (Array.isArray(value)) fillItems(schema.items, value);
  if (isJsonObject(value)) fillFields(schema, value);
}

/** Most schemas say no default at all, so that what they describe need not be walked. */
const haveDefaults = new WeakMap<Structural, boolean>();

function hasDefault(schema: Structural): boolean {
  const known = haveDefaults.get(schema);
  if (known !== undefined) return known;
  const inner = [...Object.values(schema.properties ?? {}), schema.items, valueSchemaOf(schema)];
  const found = schema.default !== undefined || inner.some((one) => one !== undefined && hasDefault(one));
  haveDefaults.set(schema, found);
  return found;
}

function fillItems(schema: Structural | undefined, list: unknown[]) {
  for (const [index, item] of list.entries()) {
    if (isForbiddenNull(schema, item) && schema?.default !== undefined) list[index] = structuredClone(schema.default);
    applyDefaults(schema, list[index]);
  }
}

function fillFields(schema: Structural, object: JsonObject) {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined) continue;
    if (!Object.hasOwn(object, name) || isForbiddenNull(property, object[name])) {
      object[name] = structuredClone(property.default);
    }
  }
  for (const name of Object.keys(object)) {
    const fieldSchema = fieldSchemaOf(schema, name);
    if (isForbiddenNull(fieldSchema, object[name]) && fieldSchema?.default !== undefined) {
      object[name] = structuredClone(fieldSchema.default);
    }
    applyDefaults(fieldSchema, object[name]);
  }
}

/** Whether a value is null where the schema does not let it be. */
export function isForbiddenNull(schema: Structural | undefined, value: unknown): boolean {
  return value === null && schema !== undefined && schema.nullable !== true;
}
