import { isJsonObject } from './objects.ts';
/** A rule of `x-kubernetes-validations`. */
export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/** A structural schema as a CustomResourceDefinition carries it in `openAPIV3Schema`. */
export interface Structural {
  type?: string;
  format?: string;
  nullable?: boolean;
  default?: unknown;
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, Structural>;
  additionalProperties?: boolean | Structural;
  items?: Structural;
  allOf?: Structural[];
  anyOf?: Structural[];
  oneOf?: Structural[];
  not?: Structural;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'granular' | 'atomic';
  'x-kubernetes-validations'?: ValidationRule[];
}

/** The schema of the values of a map (`additionalProperties`), if it says one. */
export function valueSchemaOf(schema: Structural | undefined): Structural | undefined {
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

/** The schema of one field of an object or map. */
export function fieldSchemaOf(schema: Structural | undefined, name: string): Structural | undefined {
  const properties = schema?.properties;
  return properties && Object.hasOwn(properties, name) ? properties[name] : valueSchemaOf(schema);
}

/** How messages write a field: `spec.disks[0].size`. */
export const fieldPath = (parent: string, name: string) => (parent === '' ? name : `${parent}.${name}`);

/** The element of a `listType=map` list that has the same keys as `element`. */
export function sameKeyed(schema: Structural, list: unknown, element: unknown): unknown {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(list) || !isJsonObject(element)) return undefined;
  return list.find((other) => isJsonObject(other) && keys.every((key) => other[key] === element[key]));
}
