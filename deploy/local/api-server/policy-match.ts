import type { AdmissionRequest } from './admission.ts';
import type { ClusterState } from './cluster-state.ts';
import { type ApiObject, fieldAt, isJsonObject, type JsonObject, listAt } from './objects.ts';

/** Whether `matchConstraints` of a policy, or `matchResources` of its binding, speak of this request; what says nothing does. */
export function isMeant(state: ClusterState, constraints: unknown, request: AdmissionRequest): boolean {
  if (!isJsonObject(constraints)) return true;
  const { namespaceSelector, objectSelector } = constraints;
  const rules = listAt(constraints, 'resourceRules');
  return (
    (rules.length === 0 || rules.some((rule) => isOf(rule, request))) &&
    !listAt(constraints, 'excludeResourceRules').some((rule) => isOf(rule, request)) &&
    isSelectedNamespace(state, namespaceSelector, request) &&
    [request.object, request.oldObject].some((object) => object && selects(objectSelector, object.metadata.labels))
  );
}

function isOf(rule: unknown, { operation, resource, subresource, object, oldObject }: AdmissionRequest): boolean {
  const has = (field: string, wanted: string) => listAt(rule, field).some((each) => each === '*' || each === wanted);
  const { name, namespace } = (object ?? oldObject)?.metadata ?? {};
  const names = listAt(rule, 'resourceNames');
  const scope = fieldAt(rule, ['scope']) ?? '*';
  return (
    has('operations', operation) &&
    has('apiGroups', resource.group) &&
    has('apiVersions', resource.version) &&
    listAt(rule, 'resources').some((each) => isResource(String(each), resource.resource, subresource)) &&
    (names.length === 0 || names.includes(name)) &&
    (scope === '*' || (scope === 'Namespaced') === (namespace !== undefined))
  );
}

/** `pods`, `pods/status`, `pods/*`, `*` for all but subresources, and with a second star for these too. */
function isResource(pattern: string, resource: string, subresource: string): boolean {
  const [wanted, inside = ''] = pattern.split('/');
  return [resource, '*'].includes(wanted ?? '') && [subresource, '*'].includes(inside);
}

function isSelectedNamespace(
  { store }: ClusterState,
  selector: unknown,
  { resource, object, oldObject }: AdmissionRequest,
) {
  if (isEmpty(selector)) return true;
  const about = object ?? oldObject;
  if (resource.group === '' && resource.resource === 'namespaces') return selects(selector, about?.metadata.labels);
  const namespace = about?.metadata.namespace;
  // Cluster-scoped objects are in no namespace that a selector could leave out.
  return namespace === undefined || selects(selector, store.get('/namespaces', undefined, namespace)?.metadata.labels);
}

const isEmpty = (selector: unknown) =>
  !isJsonObject(selector) ||
  (isJsonObject(selector.matchLabels) ? Object.keys(selector.matchLabels).length : 0) +
    listAt(selector, 'matchExpressions').length ===
    0;

function selects(selector: unknown, labels: ApiObject['metadata']['labels'] = {}): boolean {
  if (isEmpty(selector)) return true;
  const exact = Object.entries((fieldAt(selector, ['matchLabels']) ?? {}) as JsonObject);
  return (
    exact.every(([name, value]) => labels[name] === value) &&
    listAt(selector, 'matchExpressions').every((each) => fits(each as JsonObject, labels))
  );
}

function fits({ key, operator, values }: JsonObject, labels: Record<string, string>): boolean {
  const found = labels[String(key)];
  const isListed = Array.isArray(values) && values.includes(found);
  if (operator === 'In') return found !== undefined && isListed;
  if (operator === 'NotIn') return found === undefined || !isListed;
  return (operator === 'Exists') === (found !== undefined);
}
