import type { User } from './authentication.ts';
import type { ClusterState } from './cluster-state.ts';
import { type ApiObject, isJsonObject, type JsonObject } from './objects.ts';
import type { ResourceTarget } from './request-target.ts';
import { forbidden } from './status-error.ts';

const group = 'rbac.authorization.k8s.io';

/** Refuses (403) what no Role or ClusterRole bound to the user allows; members of system:masters may do anything. */
export function authorise(state: ClusterState, user: User, verb: string, target: ResourceTarget): void {
  if (user.groups.includes('system:masters')) return;
  const namespace = namespaceOf(target);
  if (rulesFor(state, user, namespace).some((rule) => allows(rule, verb, target))) return;
  const resource = target.subresource ? `${target.plural}/${target.subresource}` : target.plural;
  const where = namespace ? `in the namespace "${namespace}"` : 'at the cluster scope';
  throw forbidden(
    { group: target.group, resource: target.plural },
    target.name ?? '',
    `User "${user.name}" cannot ${verb} resource "${resource}" in API group "${target.group}" ${where}`,
  );
}

/** A namespace is in itself: a Role in it may allow reading it. */
const namespaceOf = ({ group, plural, namespace, name }: ResourceTarget) =>
  group === '' && plural === 'namespaces' ? name : namespace;

/** The rules of all roles bound to the user, in the cluster and in the namespace. */
function rulesFor({ store }: ClusterState, user: User, namespace: string | undefined): JsonObject[] {
  const everywhere = store.list(`${group}/clusterrolebindings`).filter((binding) => binds(binding, user));
  const here = namespace
    ? store.list(`${group}/rolebindings`, namespace).filter((binding) => binds(binding, user))
    : [];
  return [...everywhere, ...here].flatMap((binding) => {
    const { kind, name } = (isJsonObject(binding.roleRef) ? binding.roleRef : {}) as { kind?: string; name?: string };
    const role =
      kind === 'ClusterRole'
        ? store.get(`${group}/clusterroles`, undefined, name ?? '')
        : store.get(`${group}/roles`, binding.metadata.namespace, name ?? '');
    return Array.isArray(role?.rules) ? role.rules.filter(isJsonObject) : [];
  });
}

const binds = ({ subjects, metadata }: ApiObject, user: User): boolean =>
  Array.isArray(subjects) &&
  subjects.filter(isJsonObject).some(({ kind, name, namespace = metadata.namespace }) => {
    if (kind === 'ServiceAccount') return user.name === `system:serviceaccount:${namespace}:${name}`;
    return kind === 'User' ? user.name === name : kind === 'Group' && user.groups.includes(String(name));
  });

function allows(rule: JsonObject, verb: string, { group, plural, subresource, name }: ResourceTarget): boolean {
  const has = (field: string, ...wanted: string[]) => {
    const listed = rule[field];
    return Array.isArray(listed) && wanted.some((each) => listed.includes(each));
  };
  const resources = subresource ? [`${plural}/${subresource}`, `*/${subresource}`, '*'] : [plural, '*'];
  const isNamed = !Array.isArray(rule.resourceNames) || rule.resourceNames.length === 0;
  return (
    has('verbs', verb, '*') &&
    has('apiGroups', group, '*') &&
    has('resources', ...resources) &&
    (isNamed || (name !== undefined && has('resourceNames', name)))
  );
}
