import { isDeepStrictEqual } from 'node:util';

/** The metadata of an object as the API server keeps it. */
export interface Metadata {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
  [field: string]: unknown;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** Any object of any kind: JSON, as it came over the wire. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  [field: string]: unknown;
}

export type JsonObject = Record<string, unknown>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy that shares nothing with its original and may be changed. */
export const copyOf = <T>(value: T): T => {
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) copy[key] = copyOf((value as JsonObject)[key]);
  return copy as T;
};

/** Freezes a value all the way down, so that no reader can change what the store keeps. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const field of Object.values(value)) frozen(field);
  return Object.freeze(value);
}

/** The value at a path of field names; undefined where a step is missing. */
export const fieldAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, step) => (isJsonObject(at) ? at[step] : undefined), value);

/** The list at a path of field names; empty where there is none. */
export function listAt(value: unknown, ...path: string[]): unknown[] {
  const list = fieldAt(value, path);
  return Array.isArray(list) ? list : [];
}

export const objectsAt = (value: unknown, ...path: string[]): JsonObject[] =>
  listAt(value, ...path).filter(isJsonObject);

/** Whether two objects are the same but for the times in their managedFields, which alone are no change. */
export const sameContent = (a: ApiObject, b: ApiObject): boolean => isDeepStrictEqual(timeless(a), timeless(b));

const timeless = (object: ApiObject) => {
  const { managedFields, resourceVersion: _, ...metadata } = object.metadata;
  const entries = (managedFields ?? []) as { time?: string }[];
  return { ...object, metadata: { ...metadata, managedFields: entries.map(({ time: __, ...entry }) => entry) } };
};
