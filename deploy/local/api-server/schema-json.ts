import { formats } from './schema-formats.ts';
import type { Structural } from './schema-structural.ts';

type JsonSchema = Record<string, unknown>;

/** Keywords that mean in JSON Schema what they mean in a structural schema. */
const SHARED = [
  'enum',
  'maxItems',
  'maxLength',
  'maxProperties',
  'minItems',
  'minLength',
  'minProperties',
  'multipleOf',
  'pattern',
  'required',
] as const;

/** The JSON Schema that accepts what a CustomResourceDefinition's structural schema accepts, defaults and rules aside. */
export function toJsonSchema(schema: Structural): JsonSchema {
  const json: JsonSchema = {};
  const types = typesOf(schema);
  if (types.length > 0) json.type = schema.nullable ? [...types, 'null'] : types;
  for (const keyword of SHARED) if (schema[keyword] !== undefined) json[keyword] = schema[keyword];
  if (schema.format !== undefined && Object.hasOwn(formats, schema.format)) json.format = schema.format;
  addBounds(schema, json);
  addChildren(schema, json);
  addCombinations(schema, json);
  return json;
}

/** The JSON types a structural schema allows, null aside; none means any. */
export function typesOf(schema: Structural): string[] {
  if (schema['x-kubernetes-int-or-string']) return ['integer', 'string'];
  return schema.type === undefined || schema.type === '' ? [] : [schema.type];
}

function addBounds(schema: Structural, json: JsonSchema) {
  if (schema.minimum !== undefined) json[schema.exclusiveMinimum ? 'exclusiveMinimum' : 'minimum'] = schema.minimum;
  if (schema.maximum !== undefined) json[schema.exclusiveMaximum ? 'exclusiveMaximum' : 'maximum'] = schema.maximum;
}

function addChildren(schema: Structural, json: JsonSchema) {
  if (schema.items) json.items = toJsonSchema(schema.items);
  if (schema.properties) {
    const properties = Object.entries(schema.properties).map(([name, child]) => [name, toJsonSchema(child)]);
    json.properties = Object.fromEntries(properties);
  }
  if (typeof schema.additionalProperties === 'object') {
    json.additionalProperties = toJsonSchema(schema.additionalProperties);
  }
}

function addCombinations(schema: Structural, json: JsonSchema) {
  const combined: JsonSchema = {};
  if (schema.allOf) combined.allOf = schema.allOf.map(toJsonSchema);
  if (schema.anyOf) combined.anyOf = schema.anyOf.map(toJsonSchema);
  if (schema.oneOf) combined.oneOf = schema.oneOf.map(toJsonSchema);
  if (schema.not) combined.not = toJsonSchema(schema.not);
  if (Object.keys(combined).length === 0) return;
  // Of a null that is allowed the API server asks nothing but its type and enum.
  Object.assign(json, schema.nullable ? { if: { type: 'null' }, else: combined } : combined);
}
