import { isDeepStrictEqual } from 'node:util';
import type { User } from './authentication.ts';
import type { ClusterState } from './cluster-state.ts';
import { groupResourceOf, type Kind } from './kind.ts';
import { type ApiObject, isJsonObject, type JsonObject, listAt, objectsAt } from './objects.ts';
import { grantFor, grantsOf, isMaster, rulesOfRole } from './rbac.ts';
import type { ResourceTarget } from './request-target.ts';
import { forbidden, notFound } from './status-error.ts';

const group = 'rbac.authorization.k8s.io';

/** Refuses (403) a role or binding that gives what its writer hasn't got, unless they may `escalate` or `bind`. */
export function confirmNoEscalation(
  state: ClusterState,
  user: User,
  { kind, target }: { kind: Kind; target: Pick<ResourceTarget, 'namespace' | 'name'> },
  object: ApiObject,
  old: ApiObject | undefined,
): void {
  if (kind.group !== group || isMaster(user) || (old && isOnlyForCollector(object, old))) return;
  const granted = kind.plural.endsWith('bindings')
    ? boundRules(state, user, kind, object, target.namespace)
    : roleRules(state, user, kind, object, target);
  if (!granted) return;
  const held = grantsOf(state, user, target.namespace).map(({ rule }) => rule);
  const missing = granted.flatMap(brokenDown).filter((atom) => !held.some((rule) => covers(rule, atom)));
  if (missing.length === 0) return;
  const groups = `[${user.groups.map((each) => JSON.stringify(each)).join(' ')}]`;
  const lines = [...new Set(compacted(missing).map(inWords))].sort();
  const why = `user ${JSON.stringify(user.name)} (groups=${groups}) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`;
  throw forbidden(groupResourceOf(kind), object.metadata.name, why);
}

/** What the garbage collector changes, anybody may who may update. */
function isOnlyForCollector(object: ApiObject, old: ApiObject): boolean {
  const plain = ({ metadata, ...rest }: ApiObject) => {
    const { ownerReferences: _, finalizers: __, managedFields: ___, ...others } = metadata;
    return { ...rest, metadata: others };
  };
  return isDeepStrictEqual(plain(object), plain(old));
}

function roleRules(
  state: ClusterState,
  user: User,
  { plural }: Kind,
  { rules }: ApiObject,
  { namespace, name }: Pick<ResourceTarget, 'namespace' | 'name'>,
): JsonObject[] | undefined {
  if (grantFor(state, user, 'escalate', { group, plural, subresource: '', namespace, name })) return undefined;
  return objectsAt(rules);
}

function boundRules(state: ClusterState, user: User, of: Kind, { roleRef }: ApiObject, namespace: string | undefined) {
  const { kind = '', name = '' } = (isJsonObject(roleRef) ? roleRef : {}) as Record<string, string>;
  const plural = kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  if (grantFor(state, user, 'bind', { group, plural, subresource: '', namespace, name })) return undefined;
  const rules = rulesOfRole(state, kind, name, namespace);
  // The real server calls the missing role by the kind it was asked to write.
  if (!rules) throw notFound(groupResourceOf(of), name);
  return rules;
}

/** A rule with one verb, one group, one resource and one name at most. */
function brokenDown(rule: JsonObject): JsonObject[] {
  const names = listAt(rule, 'resourceNames');
  const atoms = listAt(rule, 'apiGroups').flatMap((each) =>
    listAt(rule, 'resources').flatMap((resource) =>
      listAt(rule, 'verbs').flatMap((verb) => {
        const atom = { apiGroups: [each], resources: [resource], verbs: [verb] };
        return names.length > 0 ? names.map((name) => ({ ...atom, resourceNames: [name] })) : [atom];
      }),
    ),
  );
  const paths = listAt(rule, 'nonResourceURLs').flatMap((path) =>
    listAt(rule, 'verbs').map((verb) => ({ nonResourceURLs: [path], verbs: [verb] })),
  );
  return [...atoms, ...paths];
}

function covers(rule: JsonObject, atom: JsonObject): boolean {
  const has = (field: string, all?: string) => {
    const own = listAt(rule, field);
    return (all !== undefined && own.includes(all)) || listAt(atom, field).every((each) => own.includes(each));
  };
  const [resource] = listAt(atom, 'resources').map(String);
  const subresource = resource?.includes('/') ? `*/${resource.slice(resource.indexOf('/') + 1)}` : undefined;
  const own = listAt(rule, 'resourceNames');
  return (
    has('verbs', '*') &&
    has('apiGroups', '*') &&
    (has('resources', '*') || (subresource !== undefined && listAt(rule, 'resources').includes(subresource))) &&
    (own.length === 0 || (listAt(atom, 'resourceNames').length > 0 && has('resourceNames'))) &&
    listAt(atom, 'nonResourceURLs').every((path) => listAt(rule, 'nonResourceURLs').some((each) => leadsTo(each, path)))
  );
}

const leadsTo = (owned: unknown, path: unknown) =>
  owned === path || (String(owned).endsWith('*') && String(path).startsWith(String(owned).replace(/\*+$/, '')));

/** Rules about the same resource in one, with all of its verbs. */
function compacted(atoms: readonly JsonObject[]): JsonObject[] {
  const alike = Map.groupBy(atoms, ({ verbs: _, ...about }) => JSON.stringify(about));
  return [...alike.values()].flatMap((same) => {
    const [first = {}] = same;
    if (first.nonResourceURLs) return same;
    return [{ ...first, verbs: same.flatMap((atom) => listAt(atom, 'verbs')) }];
  });
}

const inWords = (rule: JsonObject) => {
  const parts = ['apiGroups', 'resources', 'nonResourceURLs', 'resourceNames', 'verbs'].flatMap((field) => {
    const list = listAt(rule, field);
    const name = field === 'apiGroups' ? 'APIGroups' : field.charAt(0).toUpperCase() + field.slice(1);
    return list.length > 0 ? [`${name}:[${list.map((each) => JSON.stringify(each)).join(' ')}]`] : [];
  });
  return `{${parts.join(', ')}}`;
};
