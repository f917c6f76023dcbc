import { isDeepStrictEqual } from 'node:util';
import { fillIn } from './default-values.ts';
import type { Kind } from './kind.ts';
import { type ApiObject, fieldAt, isJsonObject, type JsonObject } from './objects.ts';
import { type Cause, forbidden, invalid, required } from './schema-cause.ts';

const configKey = '[-._a-zA-Z0-9]+';
const configKeyWords = `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${configKey}')`;

const keyCauses = (object: ApiObject, ...fields: string[]): Cause[] =>
  fields.flatMap((field) =>
    Object.keys(isJsonObject(object[field]) ? object[field] : {})
      .filter((key) => !new RegExp(`^${configKey}$`).test(key))
      .map((key) => invalid(`${field}[${key}]`, key, configKeyWords)),
  );

/** What may no longer change where `immutable` is set. */
function immutableCauses(object: ApiObject, old: ApiObject | undefined, ...fields: string[]): Cause[] {
  if (!old?.immutable) return [];
  return fields
    .filter((field) => !isDeepStrictEqual(object[field], old[field]))
    .map((field) => forbidden(field, 'field is immutable when `immutable` is set'));
}

/** An empty map is as good as none to what Go keeps. */
function dropEmpty(object: ApiObject) {
  for (const field of ['data', 'binaryData']) {
    const map = object[field];
    if (isJsonObject(map) && Object.keys(map).length === 0) delete object[field];
  }
}

export const configMapRules: Partial<Kind> = {
  prepareForCreate: dropEmpty,
  prepareForUpdate: dropEmpty,
  validate: (map, old) => [
    ...keyCauses(map, 'data', 'binaryData'),
    ...immutableCauses(map, old, 'immutable', 'data', 'binaryData'),
  ],
};

/** Puts what was given as plain text where it is kept, encoded. */
function encodeStringData(secret: ApiObject) {
  const { stringData } = secret;
  delete secret.stringData;
  if (!isJsonObject(stringData)) return;
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString('base64'),
  ]);
  secret.data = { ...(isJsonObject(secret.data) ? secret.data : {}), ...Object.fromEntries(encoded) };
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function encodingCauses({ data }: ApiObject): Cause[] {
  return Object.entries(isJsonObject(data) ? data : {})
    .filter(([, value]) => !base64.test(String(value).replaceAll(/\s/g, '')))
    .map(([key]) => invalid(`data[${key}]`, '<redacted>', 'illegal base64 data'));
}

function completeSecret(secret: ApiObject) {
  encodeStringData(secret);
  fillIn(secret, { type: 'Opaque' });
}

export const secretRules: Partial<Kind> = {
  prepareForCreate: completeSecret,
  prepareForUpdate: completeSecret,
  validate: (secret, old) => [
    ...keyCauses(secret, 'data'),
    ...encodingCauses(secret),
    ...immutableCauses(secret, old, 'immutable', 'data'),
    ...(old && old.type !== secret.type ? [invalid('type', secret.type, 'field is immutable')] : []),
  ],
};

/** What of a claim never changes once it is made: not how much it asks for once it is bound, nor the class it was not given at first. */
const fixedClaim = (spec: unknown, old: ApiObject): JsonObject => {
  const { volumeName: _, volumeAttributesClassName: __, ...fixed } = isJsonObject(spec) ? spec : {};
  if (fieldAt(old.spec, ['storageClassName']) === undefined) delete fixed.storageClassName;
  if (fieldAt(old.status, ['phase']) === 'Bound') delete fixed.resources;
  return fixed;
};

export const claimRules: Partial<Kind> = {
  prepareForCreate: (claim) => {
    if (isJsonObject(claim.spec)) fillIn(claim.spec, { volumeMode: 'Filesystem' });
    claim.status = { phase: 'Pending' };
  },
  prepareForUpdate: ({ spec }) => {
    if (isJsonObject(spec)) fillIn(spec, { volumeMode: 'Filesystem' });
  },
  validate: ({ spec }, old) => {
    const modes = fieldAt(spec, ['accessModes']);
    const immutable =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    return [
      ...(Array.isArray(modes) && modes.length > 0
        ? []
        : [required('spec.accessModes', 'at least 1 access mode is required')]),
      ...(fieldAt(spec, ['resources', 'requests', 'storage']) ? [] : [required('spec.resources[storage]')]),
      ...(old && !isDeepStrictEqual(fixedClaim(spec, old), fixedClaim(old.spec, old))
        ? [forbidden('spec', immutable)]
        : []),
    ];
  },
};

/** What core/v1 writes of an Event even where it is not known. */
const completeEvent = (event: ApiObject) =>
  fillIn(event, {
    ...{ source: {}, reportingComponent: '', reportingInstance: '' },
    ...{ eventTime: null, firstTimestamp: null, lastTimestamp: null },
  });

export const eventRules: Partial<Kind> = {
  prepareForCreate: completeEvent,
  prepareForUpdate: completeEvent,
  validate: (event) => {
    const namespace = fieldAt(event, ['involvedObject', 'namespace']) ?? '';
    // An event about a cluster-scoped object is kept in the namespace default.
    const isAtHome = namespace === event.metadata.namespace || (!namespace && event.metadata.namespace === 'default');
    return isAtHome ? [] : [invalid('involvedObject.namespace', namespace, 'does not match event.namespace')];
  },
};

export const leaseRules: Partial<Kind> = {
  prepareForCreate: (lease) => fillIn(lease, { spec: {} }),
  validate: ({ spec }) => {
    const seconds = fieldAt(spec, ['leaseDurationSeconds']);
    const transitions = fieldAt(spec, ['leaseTransitions']);
    return [
      ...(typeof seconds === 'number' && seconds <= 0
        ? [invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
        : []),
      ...(typeof transitions === 'number' && transitions < 0
        ? [invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
        : []),
    ];
  },
};

export const storageClassRules: Partial<Kind> = {
  prepareForCreate: (object) => fillIn(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  validate: ({ provisioner }) => (provisioner ? [] : [required('provisioner')]),
};
