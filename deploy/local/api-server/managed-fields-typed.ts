import { pathText } from './managed-fields-set.ts';
import { shapeOf, type Type } from './managed-fields-shape.ts';
import { isJsonObject } from './objects.ts';
import { fieldSchemaOf, type Structural } from './schema-structural.ts';

/** What is applied does not fit the schema so far that it cannot be merged: the API server answers 500. */
export class ApplyTypeError extends Error {
  override name = 'ApplyTypeError';
}

/** Throws an ApplyTypeError for unknown fields, and for lists whose elements cannot be told apart. */
export function assertMergeable(applied: Record<string, unknown>, type: Type): void {
  const { apiVersion, kind, ...fields } = applied;
  const { metadata } = fields;
  const fault = faultIn(fields, type, '', false);
  if (!fault) return;
  const { namespace = '', name = '' } = isJsonObject(metadata) ? metadata : {};
  throw new ApplyTypeError(
    `failed to create typed patch object (${namespace}/${name}; ${groupVersionInWords(String(apiVersion))}, Kind=${kind}): ${fault}`,
  );
}

/** An apiVersion as Go prints a GroupVersion: `/v1` for the group without a name. */
export const groupVersionInWords = (apiVersion: string) => (apiVersion.includes('/') ? apiVersion : `/${apiVersion}`);

function faultIn(value: unknown, type: Type, path: string, keepsUnknown: boolean): string | undefined {
  const { schema } = type;
  if (!schema || value === null) return undefined;
  if (schema.type === 'array' && !Array.isArray(value)) return `${path}: expected list, got ${describe(value)}`;
  if (schema.type === 'object' && !isJsonObject(value)) return `${path}: expected map, got ${describe(value)}`;
  const scalar = scalarFault(schema.type, value);
  if (scalar) return `${path}: ${scalar}`;
  const keeps = keepsUnknown || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (Array.isArray(value)) return faultInList(value, type, path, keeps);
  return isJsonObject(value) ? faultInFields(value, schema, path, keeps) : undefined;
}

function faultInFields(object: Record<string, unknown>, schema: Structural, path: string, keeps: boolean) {
  const isOpen = keeps || schema.additionalProperties || Object.keys(schema.properties ?? {}).length === 0;
  for (const [name, value] of Object.entries(object)) {
    const fieldSchema = fieldSchemaOf(schema, name);
    const at = `${path}.${name}`;
    if (!fieldSchema && !isOpen) return `${at}: field not declared in schema`;
    const fault = faultIn(value, { name, schema: fieldSchema }, at, keeps);
    if (fault) return fault;
  }
  return undefined;
}

function faultInList(list: unknown[], type: Type, path: string, keeps: boolean): string | undefined {
  const keys = type.schema?.['x-kubernetes-list-map-keys'];
  const shape = shapeOf(type, list);
  if (keys && shape.kind === 'whole') {
    const keyless = list.findIndex((item) => shapeOf(type, [item]).kind === 'whole');
    return `${path}: element ${keyless}: associative list with keys has an element that omits all key fields ${JSON.stringify(keys)} (and doesn't have default values for any key fields)`;
  }
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const step = shape.kind === 'elements' ? shape.stepOf(item) : `i:${index}`;
    if (seen.has(step)) return `${path}: duplicate entries for key ${pathText([step])}`;
    seen.add(step);
    const fault = faultIn(item, { name: '', schema: type.schema?.items }, `${path}${pathText([step])}`, keeps);
    if (fault) return fault;
  }
  return undefined;
}

/** What is wrong with a value that must be of a scalar type, in the words of structured-merge-diff's validator. */
function scalarFault(type: string | undefined, value: unknown): string | undefined {
  if ((type === 'integer' || type === 'number') && typeof value !== 'number') {
    return `expected numeric (int or float), got ${goType(value)}`;
  }
  const inGo = `&value.valueUnstructured{Value:${JSON.stringify(value)}}`;
  if (type === 'string' && typeof value !== 'string') return `expected string, got ${inGo}`;
  return type === 'boolean' && typeof value !== 'boolean' ? `expected boolean, got ${inGo}` : undefined;
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const describe = (value: unknown) => JSON.stringify(value);
