import { apiVersionOf, type Kind, type KindRegistry } from './kind.ts';
import type { JsonObject } from './objects.ts';

const pathsRoot = (kind: Pick<Kind, 'group' | 'version'>) => (kind.group ? 'apis/' : 'api/') + apiVersionOf(kind);

/** What documents there are: one for each group and version. */
export const openApiV3Index = (kinds: KindRegistry) => ({
  paths: Object.fromEntries(
    kinds.all().map((kind) => [pathsRoot(kind), { serverRelativeURL: `/openapi/v3/${pathsRoot(kind)}` }]),
  ),
});

/**
 * The document of one group and version: what `kubectl explain` shows, and that every write takes fieldValidation, so
 * that kubectl leaves validation to the server. It lists no strategic merge, so that kubectl merges built-in kinds by
 * its own knowledge of them.
 */
export const openApiV3 = (members: Kind[]) => ({
  openapi: '3.0.0',
  info: { title: 'Kubernetes', version: 'v1.34.4' },
  paths: Object.fromEntries(members.flatMap(pathsOf)),
  components: { schemas: Object.fromEntries([...members.map(schemaOf), ['ObjectMeta', objectMeta]]) },
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
    patch: operation('patch', body(...patchTypes)),
    delete: operation('delete'),
  };
  return [
    [collection, { get: operation('list'), post: operation('post', body('application/json')) }],
    [`${collection}/{name}`, one],
  ];
}

const strings = { type: 'object', additionalProperties: { type: 'string' } };

const objectMeta = {
  description: 'What every object carries beside its own fields.',
  type: 'object',
  properties: {
    annotations: strings,
    creationTimestamp: { type: 'string', format: 'date-time' },
    deletionTimestamp: { type: 'string', format: 'date-time' },
    finalizers: { type: 'array', items: { type: 'string' } },
    generateName: { type: 'string' },
    generation: { type: 'integer', format: 'int64' },
    labels: strings,
    name: { type: 'string' },
    namespace: { type: 'string' },
    ownerReferences: { type: 'array', items: { type: 'object' } },
    resourceVersion: { type: 'string' },
    uid: { type: 'string' },
  },
};

function schemaOf(kind: Kind): [string, unknown] {
  const schema = kind.openApiSchema ?? { type: 'object' };
  const properties = {
    apiVersion: { type: 'string', description: 'The version of the schema this object is written in.' },
    kind: { type: 'string', description: 'What this object is.' },
    metadata: {
      allOf: [{ $ref: '#/components/schemas/ObjectMeta' }],
      description: 'Name, labels, owners and the like.',
    },
  };
  const own = (schema.properties ?? {}) as JsonObject;
  return [schemaName(kind), { ...schema, properties: { ...own, ...properties }, [gvkExtension]: [gvkOf(kind)] }];
}
