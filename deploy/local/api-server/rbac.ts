import type { User } from './authentication.ts';
import { bootstrapRoles } from './bootstrap-roles.ts';
import type { ClusterState } from './cluster-state.ts';
import { type ApiObject, isJsonObject, type JsonObject, listAt, objectsAt } from './objects.ts';
import type { ResourceTarget } from './request-target.ts';
import { forbidden } from './status-error.ts';

const group = 'rbac.authorization.k8s.io';

/** What a user wants to do, as rules are asked about it. */
export type Access = Pick<ResourceTarget, 'group' | 'plural' | 'subresource' | 'namespace' | 'name'>;

/** A rule that a user has, and by which binding, in the words of the RBAC authorizer. */
export interface Grant {
  rule: JsonObject;
  by: string;
}

/** Refuses (403) what no Role or ClusterRole bound to the user allows; members of system:masters may do anything. */
export function authorise(state: ClusterState, user: User, verb: string, target: Access): void {
  if (isMaster(user) || grantFor(state, user, verb, target)) return;
  const namespace = namespaceOf(target);
  const resource = target.subresource ? `${target.plural}/${target.subresource}` : target.plural;
  const where = namespace ? `in the namespace "${namespace}"` : 'at the cluster scope';
  throw forbidden(
    { group: target.group, resource: target.plural },
    target.name ?? '',
    `User "${user.name}" cannot ${verb} resource "${resource}" in API group "${target.group}" ${where}`,
  );
}

/** Whether the user may do anything at all. */
export const isMaster = (user: User) => user.groups.includes('system:masters');

/** The first rule that allows it. */
export const grantFor = (state: ClusterState, user: User, verb: string, access: Access): Grant | undefined =>
  grantsOf(state, user, namespaceOf(access)).find(({ rule }) => allows(rule, verb, access));

/** The first rule that allows a path that names no resource. */
export const grantForPath = (state: ClusterState, user: User, verb: string, path: string): Grant | undefined =>
  grantsOf(state, user, undefined).find(({ rule }) => {
    const covers = (url: unknown) => {
      const text = String(url);
      return text.endsWith('*') ? path.startsWith(text.slice(0, -1)) : text === path;
    };
    return lists(rule, 'verbs', verb, '*') && listAt(rule, 'nonResourceURLs').some(covers);
  });

/** All rules of all roles bound to the user, in the cluster and in the namespace. */
export function grantsOf({ store }: ClusterState, user: User, namespace: string | undefined): Grant[] {
  const everywhere = store.list(`${group}/clusterrolebindings`);
  const here = namespace ? store.list(`${group}/rolebindings`, namespace) : [];
  const bound = [...everywhere, ...here].flatMap((binding): Grant[] => {
    const subject = subjectOf(binding, user);
    if (!subject) return [];
    const { kind, name } = (isJsonObject(binding.roleRef) ? binding.roleRef : {}) as { kind?: string; name?: string };
    const role = roleNamed(store, kind, name, binding.metadata.namespace);
    const { metadata } = binding;
    const what = metadata.namespace
      ? `RoleBinding "${metadata.name}/${metadata.namespace}"`
      : `ClusterRoleBinding "${metadata.name}"`;
    const by = `${what} of ${kind} "${name}" to ${inWords(subject, metadata.namespace)}`;
    return objectsAt(role, 'rules').map((rule) => ({ rule, by }));
  });
  return [...bootstrapGrants(user), ...bound];
}

const bootstrapGrants = (user: User): Grant[] =>
  bootstrapRoles
    .filter((role) => user.groups.includes(role.group))
    .flatMap(({ name, group: to, rules }) => {
      const by = `ClusterRoleBinding "${name}" of ClusterRole "${name}" to Group "${to}"`;
      return rules.map((rule) => ({ rule, by }));
    });

const roleNamed = (store: ClusterState['store'], kind: string | undefined, name = '', namespace?: string) =>
  kind === 'ClusterRole'
    ? store.get(`${group}/clusterroles`, undefined, name)
    : store.get(`${group}/roles`, namespace, name);

/** The rules of a role that a binding names; undefined if it does not exist. */
export function rulesOfRole({ store }: ClusterState, kind: string, name: string, namespace: string | undefined) {
  const role = roleNamed(store, kind, name, namespace);
  return role && objectsAt(role, 'rules');
}

/** A namespace is in itself: a Role in it may allow reading it. */
const namespaceOf = ({ group, plural, namespace, name }: Access) =>
  group === '' && plural === 'namespaces' ? name : namespace;

const subjectOf = ({ subjects, metadata }: ApiObject, user: User): JsonObject | undefined =>
  objectsAt(subjects).find(({ kind, name, namespace = metadata.namespace }) => {
    if (kind === 'ServiceAccount') return user.name === `system:serviceaccount:${namespace}:${name}`;
    return kind === 'User' ? user.name === name : kind === 'Group' && user.groups.includes(String(name));
  });

const inWords = ({ kind, name, namespace }: JsonObject, home: string | undefined) =>
  kind === 'ServiceAccount' ? `ServiceAccount "${name}/${namespace ?? home}"` : `${kind} "${name}"`;

function allows(rule: JsonObject, verb: string, { group, plural, subresource, name }: Access): boolean {
  const resources = subresource ? [`${plural}/${subresource}`, `*/${subresource}`, '*'] : [plural, '*'];
  const isNamed = listAt(rule, 'resourceNames').length === 0;
  return (
    lists(rule, 'verbs', verb, '*') &&
    lists(rule, 'apiGroups', group, '*') &&
    lists(rule, 'resources', ...resources) &&
    (isNamed || (name !== undefined && lists(rule, 'resourceNames', name)))
  );
}

const lists = (rule: JsonObject, field: string, ...wanted: string[]) => {
  const list = listAt(rule, field);
  return wanted.some((each) => list.includes(each));
};
