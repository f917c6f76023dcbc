import { type Cases, step } from './case.ts';

const group = 'contract.example.com';
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

type Fields = Record<string, unknown>;
const fields = (value: unknown) => (value ?? {}) as Fields;

/** Only some elements of a list in the answer, by a field of theirs. */
const only =
  (list: string, field: (element: Fields) => unknown, ...wanted: string[]) =>
  (body: unknown) => ({
    ...fields(body),
    [list]: (fields(body)[list] as Fields[]).filter((element) => wanted.includes(String(field(element)))),
  });

/** The plurals of built-in kinds that functions, stories and kubectl use, by group and version. */
const used: Record<string, string[]> = {
  'api/v1': [
    ...['configmaps', 'events', 'namespaces', 'nodes', 'persistentvolumeclaims', 'pods', 'secrets', 'serviceaccounts'],
    ...['namespaces/status', 'serviceaccounts/token', 'services'],
  ],
  'apis/admissionregistration.k8s.io/v1': [
    ...['validatingadmissionpolicies', 'validatingadmissionpolicies/status', 'validatingadmissionpolicybindings'],
  ],
  'apis/apps/v1': ['deployments', 'deployments/status', 'replicasets', 'replicasets/status'],
  'apis/batch/v1': ['jobs', 'jobs/status'],
  'apis/apiextensions.k8s.io/v1': ['customresourcedefinitions', 'customresourcedefinitions/status'],
  'apis/authorization.k8s.io/v1': ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
  'apis/coordination.k8s.io/v1': ['leases'],
  'apis/events.k8s.io/v1': ['events'],
  'apis/networking.k8s.io/v1': ['networkpolicies'],
  'apis/rbac.authorization.k8s.io/v1': ['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'],
  'apis/storage.k8s.io/v1': ['storageclasses'],
};

const schemaOf = (name: string) => (body: unknown) =>
  fields(fields(fields(body).components).schemas)[name] ?? { missing: name };

export const discoveryCases: Cases = {
  'each kind that functions use is served where it is on a real cluster': Object.entries(used).map(([path, plurals]) =>
    step(`GET /${path}`, 200, { pick: only('resources', ({ name }) => name, ...plurals) }),
  ),
  'the kinds of a CustomResourceDefinition are discovered': [
    step(`GET /apis/${group}/v1`, 200),
    step(`GET /apis/${group}`, 200),
    step('GET /apis', 200, { pick: only('groups', ({ name }) => name, group) }),
    step('GET /apis', 200, { accept: aggregated, pick: only('items', ({ metadata }) => fields(metadata).name, group) }),
    step('GET /api', 200, {
      accept: aggregated,
      pick: (body) => {
        const { items, ...rest } = body as { items: { versions: { resources: Fields[] }[] }[] };
        const resources = items[0]?.versions[0]?.resources ?? [];
        return { ...rest, configmaps: resources.filter(({ resource }) => resource === 'configmaps') };
      },
    }),
  ],
  'OpenAPI v3 has a document for each group and version': [
    step('GET /openapi/v3', 200, {
      pick: (body) => {
        const paths = fields(fields(body).paths);
        const wanted = ['api/v1', `apis/${group}/v1`, 'apis/apps/v1'];
        return wanted.map((path) => [path, String(fields(paths[path]).serverRelativeURL).replace(/\?.*/, '')]);
      },
    }),
    step(`GET /openapi/v3/apis/${group}/v1`, 200, { pick: schemaOf('com.example.contract.v1.Widget') }),
    step(`GET /openapi/v3/apis/${group}/v1`, 200, { pick: schemaOf('com.example.contract.v1.Gadget') }),
    step(`GET /openapi/v3/apis/${group}/v1`, 200, {
      pick: schemaOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'),
    }),
    step('GET /openapi/v3/apis/nowhere/v1', 404),
  ],
  'OpenAPI v3 tells kubectl how a kind is written': [
    step(`GET /openapi/v3/apis/${group}/v1`, 200, {
      pick: (body) => {
        const path = `/apis/${group}/v1/namespaces/{namespace}/widgets/{name}`;
        const patch = fields(fields(fields(fields(body).paths)[path]).patch);
        return {
          'x-kubernetes-group-version-kind': patch['x-kubernetes-group-version-kind'],
          'x-kubernetes-action': patch['x-kubernetes-action'],
          parameters: (patch.parameters as Fields[]).map(({ name }) => name),
          types: Object.keys(fields(fields(patch.requestBody).content)).sort(),
        };
      },
    }),
  ],
  'health and version are open to all': [
    step('GET /version', 200, { pick: (body) => ({ major: fields(body).major, minor: fields(body).minor }) }),
    ...['/livez', '/readyz', '/healthz'].map((path) => step(`GET ${path}`, 200, { answer: undefined })),
    step('GET /nowhere', 404),
    step('GET /apis/nowhere', 404),
  ],
};
