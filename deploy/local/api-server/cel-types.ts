import { isDeepStrictEqual } from 'node:util';
import { type Environment, evaluate } from '@marcbachmann/cel-js';
import { isJsonObject } from './objects.ts';
import { type Structural, valueSchemaOf } from './schema-structural.ts';

/** How a schema looks to a rule: the name of its CEL type, and JSON turned into values of it. */
export interface CelType {
  name: string;
  convert(value: unknown): unknown;
}

/** Registers the types of schemas in an environment, each once. */
export interface CelTypes {
  /** Undefined for what rules cannot see: fields whose schema says no type. */
  typeOf(schema: Structural, isResource?: boolean): CelType | undefined;
}

export function celTypesIn(environment: Environment): CelTypes {
  const known = new Map<Structural, CelType | undefined>();
  for (const type of ['string', 'int', 'double', 'bool']) {
    environment.registerOperator(`list<${type}> == list<${type}>`, areEqualLists);
  }
  let count = 0;
  const types: CelTypes = {
    typeOf: (schema, isResource = schema['x-kubernetes-embedded-resource'] === true) => {
      if (!known.has(schema)) known.set(schema, build(isResource ? withMetadata(schema) : schema));
      return known.get(schema);
    },
  };
  const build = (schema: Structural): CelType | undefined => {
    if (schema['x-kubernetes-int-or-string']) return { name: 'dyn', convert: toIntOrString };
    if (schema.type === 'array')
      return schema.items && listOf(schema, orNull(schema.items, types.typeOf(schema.items)));
    if (schema.type !== 'object') return scalarType(schema);
    const values = valueSchemaOf(schema);
    return values
      ? mapOf(orNull(values, types.typeOf(values)))
      : objectType(environment, schema, types, `object${++count}`);
  };
  return types;
}

/** Rules see these of any whole object, whatever its schema says, and of its metadata nothing more. */
function withMetadata(schema: Structural): Structural {
  const text: Structural = { type: 'string' };
  const metadata: Structural = { type: 'object', properties: { name: text, generateName: text } };
  return { ...schema, properties: { ...schema.properties, apiVersion: text, kind: text, metadata } };
}

/** A field that is null counts as absent, but an element of a list may be null, for which CEL has no type. */
function orNull(schema: Structural, type: CelType | undefined): CelType | undefined {
  if (!schema.nullable || !type) return type;
  return { name: 'dyn', convert: (value) => (value === null ? null : type.convert(value)) };
}

function scalarType({ type, format }: Structural): CelType | undefined {
  if (type === 'boolean') return { name: 'bool', convert: asIs };
  if (type === 'integer') return { name: 'int', convert: (value) => BigInt(Number(value)) };
  if (type === 'number') return { name: 'double', convert: asIs };
  if (type !== 'string') return undefined;
  if (format === 'date' || format === 'date-time') {
    return { name: 'google.protobuf.Timestamp', convert: (value) => new Date(String(value)) };
  }
  if (format === 'duration') return { name: 'google.protobuf.Duration', convert: toDuration };
  if (format === 'byte')
    return { name: 'bytes', convert: (value) => new Uint8Array(Buffer.from(String(value), 'base64')) };
  return { name: 'string', convert: asIs };
}

const asIs = (value: unknown) => value;

const toIntOrString = (value: unknown) => (typeof value === 'number' ? BigInt(Math.trunc(value)) : value);

const toDuration = (value: unknown): unknown => evaluate('duration(text)', { text: String(value).replaceAll(' ', '') });

/** Marks lists that are sets or keyed: they are equal in any order. */
const UNORDERED = Symbol('unordered');

function listOf(schema: Structural, item: CelType | undefined): CelType | undefined {
  if (!item) return undefined;
  const isUnordered = ['set', 'map'].includes(schema['x-kubernetes-list-type'] ?? '');
  const convert = (value: unknown) => {
    const list = Array.isArray(value) ? value.map(item.convert) : [];
    return isUnordered ? Object.defineProperty(list, UNORDERED, { value: true }) : list;
  };
  return { name: `list<${item.name}>`, convert };
}

function areEqualLists(a: unknown[], b: unknown[]): boolean {
  if (!(UNORDERED in a) && !(UNORDERED in b)) return isDeepStrictEqual(a, b);
  return a.length === b.length && a.every((item) => b.some((other) => isDeepStrictEqual(item, other)));
}

function mapOf(value: CelType | undefined): CelType | undefined {
  return (
    value && {
      name: `map<string, ${value.name}>`,
      convert: (map) =>
        new Map(Object.entries(isJsonObject(map) ? map : {}).map(([name, field]) => [name, value.convert(field)])),
    }
  );
}

/** The JSON that a CEL object was made of; equality of objects is equality of these. */
const SOURCE = Symbol('source');

function objectType(environment: Environment, schema: Structural, types: CelTypes, name: string): CelType {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([property, propertySchema]) => {
    const type = types.typeOf(propertySchema);
    const field = celName(property);
    return type && field !== undefined ? [{ property, field, type }] : [];
  });
  class CelObject {
    readonly [SOURCE]: unknown;
    constructor(source: unknown) {
      this[SOURCE] = source;
    }
  }
  environment
    .registerType(name, {
      ctor: CelObject,
      fields: Object.fromEntries(fields.map(({ field, type }) => [field, type.name])),
    })
    .registerOperator(`${name} == ${name}`, (a: CelObject, b: CelObject) => isDeepStrictEqual(a[SOURCE], b[SOURCE]))
    .registerOperator(`list<${name}> == list<${name}>`, areEqualLists);
  const convert = (value: unknown) => {
    const object = new CelObject(value) as CelObject & Record<string, unknown>;
    for (const { property, field, type } of isJsonObject(value) ? fields : []) {
      const source = (value as Record<string, unknown>)[property];
      // A null counts as absent.
      if (source !== undefined && source !== null) object[field] = type.convert(source);
    }
    return object;
  };
  return { name, convert };
}

const RESERVED = new Set(
  `true false null in as break const continue else for function if import let loop package namespace return var void while`.split(
    ' ',
  ),
);

const ESCAPES: Record<string, string> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' };

/** The name by which rules call a property, or undefined where it has none. */
function celName(property: string): string | undefined {
  if (!/^[A-Za-z_.\-/][A-Za-z0-9_.\-/]*$/.test(property)) return undefined;
  if (RESERVED.has(property)) return `__${property}__`;
  return property.replaceAll(/__|[.\-/]/g, (part) => ESCAPES[part] ?? part);
}
