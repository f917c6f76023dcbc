import type { Kind, NameRule } from './kind.ts';
import type { ApiObject, Metadata } from './objects.ts';
import { isJsonObject } from './objects.ts';
import { type Cause, forbidden, invalid, required, tooLong } from './schema-cause.ts';

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${qualified})?`;

const whole = (pattern: string) => new RegExp(`^${pattern}$`);

const nameRules: Record<NameRule, { pattern: RegExp; most: number; words: string }> = {
  subdomain: {
    pattern: whole(subdomain),
    most: 253,
    words: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain}')`,
  },
  label: {
    pattern: whole(label),
    most: 63,
    words: `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label}')`,
  },
  label1035: {
    pattern: whole(label1035),
    most: 63,
    words: `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${label1035}')`,
  },
  'path segment': {
    pattern: /^(?!\.{1,2}$)[^/%]+$/,
    most: Number.POSITIVE_INFINITY,
    words: `may not be '.' or '..' and may not contain '/' or '%'`,
  },
};

/** What is wrong with the metadata of an object of this kind, in the words of apimachinery's ValidateObjectMeta. */
export function metadataCauses(kind: Kind, { metadata }: ApiObject, old?: Metadata): Cause[] {
  return [
    ...(old ? [] : nameCauses(kind.nameRule, metadata)),
    ...labelCauses(metadata.labels),
    ...annotationCauses(metadata.annotations),
    ...finalizerCauses(kind, metadata, old),
    ...ownerCauses(metadata),
    ...(old && metadata.uid !== old.uid ? [invalid('metadata.uid', metadata.uid, 'field is immutable')] : []),
  ];
}

function nameCauses(rule: NameRule, { name }: Metadata): Cause[] {
  if (!name) return [required('metadata.name', 'name or generateName is required')];
  const { pattern, most, words } = nameRules[rule];
  return [
    ...(name.length > most ? [invalid('metadata.name', name, `must be no more than ${most} bytes`)] : []),
    ...(pattern.test(name) ? [] : [invalid('metadata.name', name, words)]),
  ];
}

const namePart = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualified}')`;

function keyCauses(field: string, key: string): Cause[] {
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  return [
    ...(slash < 0 ? [] : prefixCauses(field, key, key.slice(0, slash))),
    ...(whole(qualified).test(name) ? [] : [invalid(field, key, name ? namePart : 'name part must be non-empty')]),
    ...(name.length > 63 ? [invalid(field, key, 'name part must be no more than 63 bytes')] : []),
  ];
}

function prefixCauses(field: string, key: string, prefix: string): Cause[] {
  if (!prefix) return [invalid(field, key, 'prefix part must be non-empty')];
  const { pattern, words } = nameRules.subdomain;
  return pattern.test(prefix) ? [] : [invalid(field, key, `prefix part ${words}`)];
}

const labelCauses = (labels: Metadata['labels'] = {}): Cause[] =>
  Object.entries(labels).flatMap(([key, value]) => [
    ...keyCauses('metadata.labels', key),
    ...(value.length > 63 ? [invalid('metadata.labels', value, 'must be no more than 63 bytes')] : []),
    ...(whole(labelValue).test(value)
      ? []
      : [
          invalid(
            'metadata.labels',
            value,
            `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${qualified})?')`,
          ),
        ]),
  ]);

const mostAnnotationBytes = 256 * 1024;

function annotationCauses(annotations: Metadata['annotations'] = {}): Cause[] {
  const entries = Object.entries(annotations);
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return [
    ...entries.flatMap(([key]) => keyCauses('metadata.annotations', key.toLowerCase())),
    ...(bytes > mostAnnotationBytes ? [tooLong('metadata.annotations', mostAnnotationBytes)] : []),
  ];
}

const standardFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion'];

/** Of a built-in kind a finalizer has a prefix or is one of the system's own. */
function coreFinalizerCauses(finalizer: string, index: number): Cause[] {
  if (finalizer.includes('/') || standardFinalizers.includes(finalizer)) return [];
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  return [invalid(`metadata.finalizers[${index}]`, finalizer, why)];
}

function finalizerCauses({ custom, group }: Kind, { finalizers = [] }: Metadata, old?: Metadata): Cause[] {
  const malformed = [
    ...finalizers.flatMap((finalizer) => keyCauses('metadata.finalizers', finalizer)),
    ...(custom || group === 'apiextensions.k8s.io' ? [] : finalizers.flatMap(coreFinalizerCauses)),
  ];
  const added = finalizers.filter((finalizer) => !old?.finalizers?.includes(finalizer));
  if (!old?.deletionTimestamp || added.length === 0) return malformed;
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  return [...malformed, forbidden('metadata.finalizers', why)];
}

function ownerCauses({ ownerReferences = [] }: Metadata): Cause[] {
  const missing = ownerReferences.flatMap((owner) =>
    (['apiVersion', 'kind', 'name', 'uid'] as const)
      .filter((field) => !owner[field])
      .map((field) =>
        invalid(
          `metadata.ownerReferences.${field}`,
          owner[field] ?? '',
          `${field === 'apiVersion' ? 'version ' : ''}must not be empty`,
        ),
      ),
  );
  const controllers = ownerReferences.filter((owner) => owner.controller);
  if (controllers.length < 2) return missing;
  const names = controllers.slice(0, 2).map(({ kind, name }) => `${kind}/${name}`);
  const why = `Only one reference can have Controller set to true. Found "true" in references for ${names.join(' and ')}`;
  return [...missing, invalid('metadata.ownerReferences', ownerReferences, why)];
}

/** What of the metadata's shape no server could read at all; undefined when it is sound. */
export function unreadableMetadata(metadata: unknown): string | undefined {
  if (!isJsonObject(metadata)) return 'metadata is no object';
  const text = ['name', 'namespace', 'generateName', 'uid', 'resourceVersion'].find(
    (field) => metadata[field] != null && typeof metadata[field] !== 'string',
  );
  if (text) return `metadata.${text} is no string`;
  const map = ['labels', 'annotations'].find((field) => metadata[field] != null && !isMapOfStrings(metadata[field]));
  if (map) return `metadata.${map} is no map of strings to strings`;
  const list = ['finalizers', 'ownerReferences', 'managedFields'].find(
    (field) => metadata[field] != null && !Array.isArray(metadata[field]),
  );
  return list && `metadata.${list} is no list`;
}

const isMapOfStrings = (value: unknown) =>
  isJsonObject(value) && Object.values(value).every((entry) => typeof entry === 'string');
