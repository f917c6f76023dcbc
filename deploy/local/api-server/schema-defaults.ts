import { type Fields, fieldSchemaOf, isFields, type Structural } from './schema-structural.ts';

/** Fills in, in place, the defaults of absent fields, as CustomResourceDefinitions do; a null that may not be null counts as absent. */
export function applyDefaults(schema: Structural, object: unknown): void {
  dropForbiddenNulls(schema, object);
  fill(schema, object);
}

function dropForbiddenNulls(schema: Structural | undefined, value: unknown) {
  if (!schema) return;
  if (Array.isArray(value)) for (const item of value) dropForbiddenNulls(schema.items, item);
  if (!isFields(value)) return;
  for (const [name, field] of Object.entries(value)) {
    const fieldSchema = fieldSchemaOf(schema, name);
    if (isForbiddenNull(fieldSchema, field) && fieldSchema?.default === undefined) delete value[name];
    else dropForbiddenNulls(fieldSchema, field);
  }
}

function fill(schema: Structural | undefined, value: unknown) {
  if (!schema) return;
  if (Array.isArray(value)) fillItems(schema.items, value);
  if (isFields(value)) fillFields(schema, value);
}

function fillItems(schema: Structural | undefined, list: unknown[]) {
  for (const [index, item] of list.entries()) {
    if (isForbiddenNull(schema, item) && schema?.default !== undefined) list[index] = structuredClone(schema.default);
    fill(schema, list[index]);
  }
}

function fillFields(schema: Structural, object: Fields) {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined) continue;
    if (!Object.hasOwn(object, name) || isForbiddenNull(property, object[name])) {
      object[name] = structuredClone(property.default);
    }
  }
  for (const name of Object.keys(object)) {
    const fieldSchema = fieldSchemaOf(schema, name);
    if (isForbiddenNull(fieldSchema, object[name])) object[name] = structuredClone(fieldSchema?.default) ?? null;
    fill(fieldSchema, object[name]);
  }
}

function isForbiddenNull(schema: Structural | undefined, value: unknown): boolean {
  return value === null && schema !== undefined && schema.nullable !== true;
}
