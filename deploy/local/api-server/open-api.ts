import { apiVersionOf, type Kind, type KindRegistry } from './kind.ts';
import { objectMetaSchemas } from './object-meta-schema.ts';
import { isJsonObject, type JsonObject } from './objects.ts';

const pathsRoot = (kind: Pick<Kind, 'group' | 'version'>) => (kind.group ? 'apis/' : 'api/') + apiVersionOf(kind);

/** What documents there are: one for each group and version. */
export const openApiV3Index = (kinds: KindRegistry) => ({
  paths: Object.fromEntries(
    kinds.all().map((kind) => [pathsRoot(kind), { serverRelativeURL: `/openapi/v3/${pathsRoot(kind)}` }]),
  ),
});

/**
 * The document of one group and version: what `kubectl explain` shows, and that every write takes fieldValidation, so that kubectl leaves
 * validation to the server. It lists no strategic merge, so that kubectl merges built-in kinds by its own knowledge of them.
 */
export const openApiV3 = (members: Kind[]) => ({
  openapi: '3.0.0',
  info: { title: 'Kubernetes', version: 'v1.34.4' },
  paths: Object.fromEntries(members.flatMap(pathsOf)),
  components: { schemas: { ...Object.fromEntries(members.map(schemaOf)), ...objectMetaSchemas } },
});

/** The older document, for clients that know no better; it names the kinds and leaves their fields open. */
export const openApiV2 = (kinds: KindRegistry) => ({
  swagger: '2.0',
  info: { title: 'Kubernetes', version: 'v1.34.4' },
  paths: {},
  definitions: Object.fromEntries(
    kinds.all().map((kind) => [schemaName(kind), { type: 'object', [gvkExtension]: [gvkOf(kind)] }]),
  ),
});

const gvkExtension = 'x-kubernetes-group-version-kind';
const gvkOf = ({ group, version, kind }: Kind) => ({ group, version, kind });

/** `com.example.v1.Widget`. */
const schemaName = ({ group, version, kind }: Kind) =>
  [...(group || 'core.api.k8s.io').split('.').reverse(), version, kind].join('.');

const parameter = (name: string) => ({ name, in: 'query', schema: { type: 'string' } });
const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation'].map(parameter);

function pathsOf(kind: Kind): [string, unknown][] {
  const collection = `/${pathsRoot(kind)}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`;
  const schema = { $ref: `#/components/schemas/${schemaName(kind)}` };
  const operation = (action: string, extra: JsonObject = {}) => ({
    responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } },
    [gvkExtension]: gvkOf(kind),
    'x-kubernetes-action': action,
    ...extra,
  });
  const body = (...types: string[]) => ({
    parameters: writeParameters,
    requestBody: { content: Object.fromEntries(types.map((type) => [type, { schema }])) },
  });
  const patchTypes = ['json-patch+json', 'merge-patch+json', 'apply-patch+yaml'].map((type) => `application/${type}`);
  const one = {
    get: operation('get'),
    put: operation('put', body('application/json')),
    patch: operation('patch', { ...body(...patchTypes), parameters: [...writeParameters, parameter('force')] }),
    delete: operation('delete'),
  };
  return [
    [collection, { get: operation('list'), post: operation('post', body('application/json')) }],
    [`${collection}/{name}`, one],
  ];
}

function schemaOf(kind: Kind): [string, unknown] {
  const schema = kind.openApiSchema ?? { type: 'object' };
  const properties = {
    apiVersion: {
      type: 'string',
      description:
        'APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources',
    },
    kind: {
      type: 'string',
      description:
        'Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds',
    },
    metadata: {
      allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
      description: `Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata`,
    },
  };
  const own = (schema.properties ?? {}) as JsonObject;
  const selectable = kind.custom ? kind.selectableFields.map((fieldPath) => ({ fieldPath })) : [];
  return [
    schemaName(kind),
    {
      ...(published(schema) as JsonObject),
      properties: { ...(published(own) as JsonObject), ...properties },
      [gvkExtension]: [gvkOf(kind)],
      ...(selectable.length > 0 && { 'x-kubernetes-selectable-fields': selectable }),
    },
  ];
}

/** A schema as it is published: int-or-string fields also have the OpenAPI form. */
function published(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(published);
  if (!isJsonObject(schema)) return schema;
  const fields = Object.entries(schema).map(([name, field]) => [name, published(field)]);
  const either = schema['x-kubernetes-int-or-string'] === true && !schema.anyOf;
  return { ...Object.fromEntries(fields), ...(either && { anyOf: [{ type: 'integer' }, { type: 'string' }] }) };
}
