import type { Tokens, User } from './authentication.ts';
import type { ClusterState } from './cluster-state.ts';
import { apiVersionOf, type Kind } from './kind.ts';
import { isJsonObject, type JsonObject } from './objects.ts';
import { type Access, type Grant, grantFor, grantForPath, grantsOf, isMaster } from './rbac.ts';
import { invalid as invalidField } from './schema-cause.ts';
import { invalid } from './status-error.ts';
import { reviewToken } from './token-review.ts';

/** The kinds that are questions, answered at once and not kept: `kubectl auth` asks them, and Knative of its sources. */
export const reviewKinds = [
  ['authentication.k8s.io', 'SelfSubjectReview'],
  ['authentication.k8s.io', 'TokenReview'],
  ['authorization.k8s.io', 'SelfSubjectAccessReview'],
  ['authorization.k8s.io', 'SelfSubjectRulesReview'],
  ['authorization.k8s.io', 'SubjectAccessReview'],
].map(([group = '', kind = '']) => ({
  group,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: false,
  verbs: ['create'],
}));

interface Reviewing {
  state: ClusterState;
  tokens: Tokens;
  user: User;
}

/** The answer to a review, about the caller or the user that it names; throws 422 if it names no resource or no user. */
export function review({ state, tokens, user }: Reviewing, kind: Kind, body: unknown): JsonObject {
  const spec = isJsonObject(body) && isJsonObject(body.spec) ? body.spec : {};
  const head = { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata: {} };
  if (kind.kind === 'SelfSubjectRulesReview') {
    return { ...head, spec: {}, status: rulesOf(state, user, String(spec.namespace ?? '')) };
  }
  if (kind.kind === 'SelfSubjectReview') {
    return { ...head, status: { userInfo: { username: user.name, groups: user.groups } } };
  }
  if (kind.kind === 'TokenReview') return { ...head, spec, status: reviewToken(state, tokens, spec) };
  return { ...head, spec, status: access(state, kind.kind === 'SubjectAccessReview' ? subjectOf(spec) : user, spec) };
}

function subjectOf({ user, groups }: JsonObject): User {
  if (user || groups) return { name: String(user ?? ''), groups: Array.isArray(groups) ? groups.map(String) : [] };
  const cause = invalidField('spec.user', '', 'at least one of user or group must be specified');
  throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', [cause]);
}

function access(state: ClusterState, user: User, spec: JsonObject) {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  if (isJsonObject(resource) === isJsonObject(path)) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    const cause = invalidField('spec.resourceAttributes', resource ?? null, why);
    throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', [cause]);
  }
  if (isMaster(user)) return { allowed: true };
  const grant = isJsonObject(resource)
    ? grantFor(state, user, String(resource.verb ?? ''), accessIn(resource))
    : grantForPath(state, user, ...verbAndPath(path));
  return grant ? { allowed: true, reason: `RBAC: allowed by ${grant.by}` } : { allowed: false };
}

const accessIn = ({ group, resource, subresource, namespace, name }: JsonObject): Access => ({
  group: String(group ?? ''),
  plural: String(resource ?? ''),
  subresource: String(subresource ?? ''),
  namespace: namespace ? String(namespace) : undefined,
  name: name ? String(name) : undefined,
});

function verbAndPath(attributes: unknown): [verb: string, path: string] {
  const { verb, path } = isJsonObject(attributes) ? attributes : {};
  return [String(verb ?? ''), String(path ?? '')];
}

const anything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const anywhere = { verbs: ['*'], nonResourceURLs: ['*'] };

function rulesOf(state: ClusterState, user: User, namespace: string) {
  const grants: Grant[] = [
    ...(isMaster(user) ? [anything, anywhere].map((rule) => ({ rule, by: 'system:masters' })) : []),
    ...grantsOf(state, user, namespace || undefined),
  ];
  const isOfPaths = ({ rule }: Grant) => Array.isArray(rule.nonResourceURLs) && rule.nonResourceURLs.length > 0;
  return {
    resourceRules: grants.filter((grant) => !isOfPaths(grant)).map(({ rule }) => rule),
    nonResourceRules: grants.filter(isOfPaths).map(({ rule }) => rule),
    incomplete: false,
  };
}
