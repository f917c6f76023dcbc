import type { WriteOptions } from './cluster-state.ts';
import { apiVersionOf, type Kind } from './kind.ts';
import { unreadableMetadata } from './metadata-rules.ts';
import { type ApiObject, isJsonObject, type JsonObject } from './objects.ts';
import { badRequest } from './status-error.ts';

type Typed = Pick<Kind, 'group' | 'version' | 'kind' | 'custom'>;

/** Reads a request's body as an object of this kind; throws 400 if it is not one. */
export function incomingObject(kind: Typed, body: unknown): ApiObject {
  if (!isJsonObject(body)) throw unrecognised(kind, 'the body is no object', body);
  const apiVersion = apiVersionOf(kind);
  if (kind.custom && !body.kind)
    throw unrecognised(kind, `Object 'Kind' is missing in '${JSON.stringify(body)}'`, body);
  const found = { kind: body.kind || kind.kind, apiVersion: body.apiVersion || apiVersion };
  if (found.kind !== kind.kind || found.apiVersion !== apiVersion) {
    throw badRequest(
      `${found.kind} in version "${versionIn(String(found.apiVersion))}" cannot be handled as a ${kind.kind}: no kind "${found.kind}" is registered for version "${found.apiVersion}"`,
    );
  }
  const metadata = withoutEmpty(withoutNulls(body.metadata ?? {}));
  const fault = unreadableMetadata(metadata);
  if (fault)
    throw badRequest(`${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${fault}`);
  const fields = kind.custom ? body : (withoutNulls(body) as JsonObject);
  return { ...fields, ...found, metadata } as unknown as ApiObject;
}

/**
 * Drops, in place, the fields its kind does not know; warns of them or refuses (400), as fieldValidation asks. A built-in kind
 * with a field of the wrong type is refused here too: the real server cannot even decode it.
 */
export function dropUnknownFields(kind: Kind, object: ApiObject, { fieldValidation, warn }: WriteOptions) {
  const unknown = [...pruneMetadata(object), ...(kind.schema?.prune(object) ?? [])].map(
    (path) => `unknown field "${path}"`,
  );
  if (unknown.length > 0 && fieldValidation === 'Strict') {
    throw badRequest(
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: strict decoding error: ${unknown.join(', ')}`,
    );
  }
  if (fieldValidation === 'Warn') for (const line of unknown) warn(line);
  const [fault] = kind.custom ? [] : (kind.schema?.validate(object) ?? []);
  if (fault) {
    throw badRequest(
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${fault.field}: ${fault.message}`,
    );
  }
}

/** Metadata is of one Go type for all kinds, which knows no difference between empty and absent. */
function withoutEmpty(metadata: unknown): unknown {
  if (!isJsonObject(metadata)) return metadata;
  const isEmpty = (field: string) => isJsonObject(metadata[field]) && Object.keys(metadata[field]).length === 0;
  const empty = [
    ...['labels', 'annotations'].filter(isEmpty),
    ...['finalizers', 'ownerReferences'].filter((field) => Array.isArray(metadata[field]) && !metadata[field].length),
  ];
  return Object.fromEntries(Object.entries(metadata).filter(([field]) => !empty.includes(field)));
}

const metadataFields = new Set([
  ...['name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion', 'generation', 'creationTimestamp'],
  ...['deletionTimestamp', 'deletionGracePeriodSeconds', 'labels', 'annotations', 'ownerReferences', 'finalizers'],
  'managedFields',
]);

function pruneMetadata({ metadata }: ApiObject): string[] {
  const unknown = Object.keys(metadata).filter((field) => !metadataFields.has(field));
  for (const field of unknown) delete metadata[field];
  return unknown.map((field) => `metadata.${field}`);
}

const versionIn = (apiVersion: string) => apiVersion.slice(apiVersion.indexOf('/') + 1);

/** A null is as good as no field to what Go decodes into a struct; a custom resource keeps it. */
function withoutNulls(value: unknown): unknown {
  if (!hasNull(value)) return value;
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]));
}

const hasNull = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.values(value).some(hasNull));

const unrecognised = (kind: Typed, why: string, body: unknown) =>
  badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${JSON.stringify(body)})`);
