import { type Cases, type Step, step } from './case.ts';

const core = '/api/v1/namespaces/{ns}';
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}';
const robot = 'system:serviceaccount:{ns}:robot';

const account = step(`POST ${core}/serviceaccounts`, 201, { body: { metadata: { name: 'robot' } } });

const aToken = (spec: object = {}) =>
  step(`POST ${core}/serviceaccounts/robot/token`, 201, {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
    save: { token: 'status.token' },
    pick: () => 'a token',
  });

/** The answer without the token, and without what says which of an account's tokens it was. */
function whose(body: unknown) {
  const { status } = body as { status?: string | { user?: { extra?: object } } };
  if (typeof status !== 'object') return body;
  const { extra: _, ...user } = status.user ?? {};
  return { ...status, user };
}

const tokenReview = (spec: object, status = 201, more: Partial<Step> = {}) =>
  step('POST /apis/authentication.k8s.io/v1/tokenreviews', status, {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec },
    pick: whose,
    ...more,
  });

const accessReview = (spec: object, status = 201, more: Partial<Step> = {}) =>
  step('POST /apis/authorization.k8s.io/v1/subjectaccessreviews', status, {
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec },
    ...more,
  });

const isAllowed = (allowed: boolean): Partial<Step> => ({ answer: { status: { allowed } } });

const get = { resourceAttributes: { namespace: '{ns}', verb: 'get', resource: 'configmaps' } };

export const reviewCases: Cases = {
  'a TokenReview says whose a token is': [
    account,
    aToken(),
    tokenReview({ token: '{token}' }, 201, { answer: { status: { authenticated: true, user: { username: robot } } } }),
  ],
  'a TokenReview of a token that nobody has, or of none': [
    tokenReview({ token: 'nobody.has.it' }, 201, {
      answer: { status: { error: /./ } },
      without: ['status.authenticated'],
    }),
    tokenReview({ token: '' }, 400),
    tokenReview({}, 400),
  ],
  'a TokenReview of the token of an account that was deleted': [
    account,
    aToken(),
    step(`DELETE ${core}/serviceaccounts/robot`, 200),
    tokenReview({ token: '{token}' }, 201, { eventually: true, without: ['status.authenticated'] }),
  ],
  'a SubjectAccessReview says whether somebody else may': [
    step(`POST ${rbac}/roles`, 201, {
      body: { metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }] },
    }),
    step(`POST ${rbac}/rolebindings`, 201, {
      body: {
        metadata: { name: 'b' },
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'ServiceAccount', name: 'robot', namespace: '{ns}' },
          { kind: 'Group', name: 'crew', apiGroup: 'rbac.authorization.k8s.io' },
        ],
      },
    }),
    accessReview({ user: robot, ...get }, 201, { ...isAllowed(true), eventually: true }),
    accessReview({ user: 'bob', groups: ['crew'], ...get }, 201, isAllowed(true)),
    accessReview({ groups: ['crew'], ...get }, 201, isAllowed(true)),
    accessReview({ user: 'bob', ...get }, 201, isAllowed(false)),
    accessReview({ user: 'bob', groups: ['system:masters'], ...get }, 201, isAllowed(true)),
    accessReview({ user: robot, nonResourceAttributes: { path: '/metrics', verb: 'get' } }, 201, isAllowed(false)),
  ],
  'a SubjectAccessReview about nobody, or about nothing, is refused': [
    accessReview(get, 422),
    accessReview({ user: robot }, 422),
  ],
  'who asks about others must be allowed to': [
    tokenReview({ token: 'any' }, 403, { as: { user: robot } }),
    accessReview({ user: 'bob', ...get }, 403, { as: { user: robot } }),
  ],
};
