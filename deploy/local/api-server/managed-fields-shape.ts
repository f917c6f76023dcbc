import { keyStep } from './managed-fields-set.ts';
import { isJsonObject } from './objects.ts';
import { fieldSchemaOf, type Structural } from './schema-structural.ts';

/** What is known of a value before it is seen: its schema, and failing that the name of its field. */
export interface Type {
  schema: Structural | undefined;
  name: string;
}

/** How a value is owned and merged: whole, field by field, or element by element. */
export type Shape =
  | { kind: 'whole' }
  | { kind: 'fields'; typeOf(name: string): Type; isDeclared(name: string): boolean }
  | { kind: 'elements'; stepOf(item: unknown): string; itemType: Type };

const WHOLE: Shape = { kind: 'whole' };

/** The type of whole objects of a kind; without a schema maps are granular and lists atomic, conditions aside. */
export function rootType(schema: Structural | undefined): Type {
  const text: Structural = { type: 'string' };
  const properties = { ...schema?.properties, apiVersion: text, kind: text, metadata: METADATA };
  const open = { 'x-kubernetes-preserve-unknown-fields': true };
  return { name: '', schema: { ...(schema ?? open), type: 'object', properties } };
}

export function shapeOf(type: Type, value: unknown): Shape {
  if (Array.isArray(value)) return listShape(type, value);
  if (!isJsonObject(value) || type.schema?.['x-kubernetes-map-type'] === 'atomic') return WHOLE;
  const { schema } = type;
  return {
    kind: 'fields',
    typeOf: (name) => ({ name, schema: fieldSchemaOf(schema, name) }),
    isDeclared: (name) => Object.hasOwn(schema?.properties ?? {}, name),
  };
}

function listShape({ schema, name }: Type, list: unknown[]): Shape {
  const itemType = { name: '', schema: schema?.items };
  if (schema?.['x-kubernetes-list-type'] === 'set') {
    const isScalar = (item: unknown) => item !== null && typeof item !== 'object';
    return list.every(isScalar) ? { kind: 'elements', stepOf: (item) => `v:${JSON.stringify(item)}`, itemType } : WHOLE;
  }
  const keys = keysOf(schema, name);
  const stepOf = (item: unknown) => keyStep(valuesOf(item, keys, schema?.items));
  const isKeyed = (item: unknown) => Object.keys(valuesOf(item, keys, schema?.items)).length > 0;
  return keys.length > 0 && list.every(isKeyed) ? { kind: 'elements', stepOf, itemType } : WHOLE;
}

function keysOf(schema: Structural | undefined, name: string): string[] {
  if (!schema) return name === 'conditions' ? ['type'] : [];
  return schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
}

/** A key that is absent has its default, or is no part of what names the element. */
function valuesOf(item: unknown, keys: string[], schema: Structural | undefined): Record<string, unknown> {
  if (!isJsonObject(item)) return {};
  const values = keys.map((key) => [key, item[key] ?? schema?.properties?.[key]?.default] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** The metadata of every kind, with the list types that its Go type declares. */
const METADATA: Structural = {
  type: 'object',
  properties: {
    ...Object.fromEntries(
      [
        'name',
        'generateName',
        'namespace',
        'uid',
        'resourceVersion',
        'selfLink',
        'creationTimestamp',
        'deletionTimestamp',
      ].map((name) => [name, { type: 'string' }]),
    ),
    managedFields: { type: 'array' },
    generation: { type: 'integer' },
    deletionGracePeriodSeconds: { type: 'integer' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    finalizers: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      items: { type: 'object', 'x-kubernetes-map-type': 'atomic' },
    },
  },
};
