import type { Case, Step } from './case.ts';

const core = '/api/v1/namespaces/{ns}';
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}';
const robot = 'system:serviceaccount:{ns}:robot';

const account: Step = { request: `POST ${core}/serviceaccounts`, body: { metadata: { name: 'robot' } }, status: 201 };

const aToken = (spec: object = {}): Step => ({
  request: `POST ${core}/serviceaccounts/robot/token`,
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
  status: 201,
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

const tokenReview = (spec: object, status = 201, more: Partial<Step> = {}): Step => ({
  request: 'POST /apis/authentication.k8s.io/v1/tokenreviews',
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec },
  status,
  pick: whose,
  ...more,
});

const accessReview = (spec: object, status = 201, more: Partial<Step> = {}): Step => ({
  request: 'POST /apis/authorization.k8s.io/v1/subjectaccessreviews',
  body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec },
  status,
  ...more,
});

const isAllowed = (allowed: boolean): Partial<Step> => ({ answer: { status: { allowed } } });

const get = { resourceAttributes: { namespace: '{ns}', verb: 'get', resource: 'configmaps' } };

export const reviewCases: Case[] = [
  {
    name: 'a TokenReview says whose a token is',
    steps: [
      account,
      aToken(),
      tokenReview({ token: '{token}' }, 201, {
        answer: { status: { authenticated: true, user: { username: robot } } },
      }),
    ],
  },
  {
    name: 'a TokenReview of a token that nobody has, or of none',
    steps: [
      tokenReview({ token: 'nobody.has.it' }, 201, {
        answer: { status: { error: /./ } },
        without: ['status.authenticated'],
      }),
      tokenReview({ token: '' }, 400),
      tokenReview({}, 400),
    ],
  },
  {
    name: 'a TokenReview of the token of an account that was deleted',
    steps: [
      account,
      aToken(),
      { request: `DELETE ${core}/serviceaccounts/robot`, status: 200 },
      tokenReview({ token: '{token}' }, 201, { eventually: true, without: ['status.authenticated'] }),
    ],
  },
  {
    name: 'a SubjectAccessReview says whether somebody else may',
    steps: [
      {
        request: `POST ${rbac}/roles`,
        body: {
          metadata: { name: 'r' },
          rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
        },
        status: 201,
      },
      {
        request: `POST ${rbac}/rolebindings`,
        body: {
          metadata: { name: 'b' },
          roleRef: { kind: 'Role', name: 'r' },
          subjects: [
            { kind: 'ServiceAccount', name: 'robot', namespace: '{ns}' },
            { kind: 'Group', name: 'crew', apiGroup: 'rbac.authorization.k8s.io' },
          ],
        },
        status: 201,
      },
      accessReview({ user: robot, ...get }, 201, { ...isAllowed(true), eventually: true }),
      accessReview({ user: 'bob', groups: ['crew'], ...get }, 201, isAllowed(true)),
      accessReview({ groups: ['crew'], ...get }, 201, isAllowed(true)),
      accessReview({ user: 'bob', ...get }, 201, isAllowed(false)),
      accessReview({ user: 'bob', groups: ['system:masters'], ...get }, 201, isAllowed(true)),
      accessReview({ user: robot, nonResourceAttributes: { path: '/metrics', verb: 'get' } }, 201, isAllowed(false)),
    ],
  },
  {
    name: 'a SubjectAccessReview about nobody, or about nothing, is refused',
    steps: [accessReview(get, 422), accessReview({ user: robot }, 422)],
  },
  {
    name: 'who asks about others must be allowed to',
    steps: [
      tokenReview({ token: 'any' }, 403, { as: { user: robot } }),
      accessReview({ user: 'bob', ...get }, 403, { as: { user: robot } }),
    ],
  },
];
