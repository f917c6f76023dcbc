import * as models from '@kubernetes/client-node';
import type { Kind } from './kind.ts';
import type { JsonObject } from './objects.ts';
import { compileSchema } from './schema.ts';

/**
 * The fields of a built-in kind, read off the client library's model of it: enough to tell an unknown field, a wrong
 * type, and what `kubectl explain` lists.
 */
export function builtInSchema(kind: string, group = 'Core'): Pick<Kind, 'schema' | 'openApiSchema'> {
  const openApiSchema = modelSchema(`V1${kind}`, []) ?? modelSchema(`${group}V1${kind}`, []);
  return openApiSchema ? { openApiSchema, schema: compileSchema(openApiSchema) } : {};
}

interface Attribute {
  baseName: string;
  type: string;
  format: string;
}

/** Types that server-side apply takes as one field (`+structType=atomic` in k8s.io/api). */
const atomic = new Set([
  ...['V1LabelSelector', 'V1RoleRef', 'RbacV1RoleRef', 'V1ObjectReference', 'V1LocalObjectReference'],
  ...['V1TypedLocalObjectReference', 'V1SecretKeySelector', 'V1ConfigMapKeySelector', 'V1ObjectFieldSelector'],
  ...['V1ResourceFieldSelector', 'V1NodeSelector', 'V1NodeSelectorTerm', 'V1TopologySelectorTerm'],
]);

const open: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const anything: JsonObject = { 'x-kubernetes-preserve-unknown-fields': true };
const quantity: JsonObject = { 'x-kubernetes-int-or-string': true };

function modelSchema(model: string, inside: string[]): JsonObject | undefined {
  const found = (models as JsonObject)[model];
  if (typeof found !== 'function' || !('getAttributeTypeMap' in found)) return undefined;
  // A model that contains itself, such as a JSON schema, is not followed down for ever.
  if (inside.includes(model)) return open;
  const attributes = (found.getAttributeTypeMap as () => Attribute[])();
  const properties = attributes.map((attribute) => [
    attribute.baseName,
    attributeSchema(attribute, [...inside, model]),
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(atomic.has(model) && { 'x-kubernetes-map-type': 'atomic' }),
  };
}

function attributeSchema({ baseName, type, format }: Attribute, inside: string[]): JsonObject {
  if (baseName === 'metadata' && inside.length === 1) return { type: 'object' };
  if (quantities.has(baseName) && type.includes('string')) {
    return type === 'string' ? quantity : { type: 'object', additionalProperties: quantity };
  }
  return {
    ...typeSchema(type, inside),
    ...listType(baseName, type),
    ...(kept.has(format) && { format }),
    ...(baseName === 'protocol' && keyedByProtocol.has(inside.at(-1) ?? '') && { default: 'TCP' }),
  };
}

/** What apply tells the ports of a list apart by counts with its default where it is left out. */
const keyedByProtocol = new Set(['V1ContainerPort', 'V1ServicePort']);

function typeSchema(type: string, inside: string[]): JsonObject {
  const [, element] = /^Array<(.*)>$/.exec(type) ?? [];
  if (element) return { type: 'array', items: typeSchema(element, inside) };
  const [, value] = /^\{ \[key: string\]: (.*); \}$/.exec(type) ?? [];
  if (value) return { type: 'object', additionalProperties: typeSchema(value, inside) };
  return scalars[type] ?? modelSchema(type, inside) ?? anything;
}

// Go reads no MicroTime without its six digits.
const microTime = String.raw`T\d\d:\d\d:\d\d\.\d{6}(Z|[-+]\d\d:\d\d)$`;

const scalars: Record<string, JsonObject> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  IntOrString: quantity,
  Date: { type: 'string', format: 'date-time' },
  V1MicroTime: { type: 'string', format: 'date-time', pattern: microTime },
  object: open,
  any: anything,
};

const kept = new Set(['int32', 'int64', 'byte']);

/** Fields that hold amounts such as `10Gi`, which a client may also write as plain numbers. */
const quantities = new Set(
  ['limits', 'requests', 'capacity', 'allocatable', 'allocatedResources', 'sizeLimit', 'divisor'].values(),
);

/** How apply merges a list, from the listType tags of k8s.io/api; a list without one belongs to one manager whole. */
function listType(field: string, type: string): JsonObject {
  const keys = listKeys[field] ?? elementKeys[type];
  if (!type.startsWith('Array<')) return {};
  if (keys) return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys };
  return { 'x-kubernetes-list-type': ['finalizers', 'validationActions'].includes(field) ? 'set' : 'atomic' };
}

/** Lists whose name others have too. */
const elementKeys: Record<string, string[]> = {
  'Array<V1ContainerPort>': ['containerPort', 'protocol'],
  'Array<V1ServicePort>': ['port', 'protocol'],
  'Array<V1MatchCondition>': ['name'],
  'Array<V1Variable>': ['name'],
};

const listKeys: Record<string, string[]> = {
  conditions: ['type'],
  containers: ['name'],
  env: ['name'],
  hostAliases: ['ip'],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  volumeDevices: ['devicePath'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
};
