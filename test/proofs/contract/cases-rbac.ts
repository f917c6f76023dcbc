import type { Case, Step } from './case.ts';

const core = '/api/v1/namespaces/{ns}';
const configMaps = `${core}/configmaps`;
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}';
const reviews = '/apis/authorization.k8s.io/v1';
const user = 'system:serviceaccount:{ns}:robot';
const robot = { user };

const account: Step = { request: `POST ${core}/serviceaccounts`, body: { metadata: { name: 'robot' } }, status: 201 };

const role = (...rules: unknown[]): Step => ({
  request: `POST ${rbac}/roles`,
  body: { metadata: { name: 'r' }, rules },
  status: 201,
});

const subject = { kind: 'ServiceAccount', name: 'robot', namespace: '{ns}' };
const bound = (subjects: unknown[] = [subject], roleRef: unknown = { kind: 'Role', name: 'r' }): Step => ({
  request: `POST ${rbac}/rolebindings`,
  body: { metadata: { name: 'b' }, roleRef, subjects },
  status: 201,
});

const configMap: Step = { request: `POST ${configMaps}`, body: { metadata: { name: 'a' } }, status: 201 };

const asRobot = (request: string, status: number, more: Partial<Step> = {}): Step => ({
  request,
  as: robot,
  status,
  ...more,
});

/** Asked until the new rights have reached the authorizer. */
const soon = (step: Step): Step => ({ ...step, eventually: true });

const review = (attributes: object, allowed: boolean, more: Partial<Step> = {}): Step => ({
  request: `POST ${reviews}/selfsubjectaccessreviews`,
  body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: attributes },
  as: robot,
  status: 201,
  answer: { status: { allowed } },
  ...more,
});

const readers = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] };

const writers = {
  apiGroups: ['rbac.authorization.k8s.io'],
  resources: ['roles', 'rolebindings'],
  verbs: ['create', 'patch'],
};
const aRole = (...rules: unknown[]) => ({ metadata: { name: 'given' }, rules });
const aBinding = (roleRef: object) => ({
  metadata: { name: 'given' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...roleRef },
  subjects: [subject],
});

export const rbacCases: Case[] = [
  {
    name: 'who is bound to no role may do nothing, and is told what',
    steps: [
      configMap,
      asRobot(`GET ${configMaps}/a`, 403),
      asRobot(`GET ${configMaps}`, 403),
      asRobot(`GET ${configMaps}?watch=1&timeoutSeconds=1`, 403),
      asRobot('GET /api/v1/configmaps', 403),
      asRobot(`POST ${configMaps}`, 403, { body: { metadata: { name: 'b' } } }),
      asRobot(`PUT ${configMaps}/a`, 403, { body: { metadata: { name: 'a' } } }),
      asRobot(`PATCH ${configMaps}/a`, 403, { type: 'application/merge-patch+json', body: {} }),
      asRobot(`DELETE ${configMaps}/a`, 403),
      asRobot(`DELETE ${configMaps}`, 403),
      asRobot('GET /api/v1/namespaces/{ns}', 403),
      asRobot('GET /apis/contract.example.com/v1/namespaces/{ns}/widgets/w/status', 403),
      asRobot('GET /apis/contract.example.com/v1/widgets', 403),
    ],
  },
  {
    name: 'a Role allows its verbs on its resources in its namespace',
    steps: [
      configMap,
      role(readers),
      bound(),
      soon(asRobot(`GET ${configMaps}/a`, 200)),
      asRobot(`GET ${configMaps}?labelSelector=none`, 200),
      asRobot(`GET ${configMaps}/none`, 404),
      asRobot(`DELETE ${configMaps}/a`, 403),
      asRobot('GET /api/v1/namespaces/default/configmaps', 403),
      asRobot(`GET ${core}/secrets`, 403),
    ],
  },
  {
    name: 'resourceNames narrow a rule to objects of these names',
    steps: [
      configMap,
      role({ ...readers, resourceNames: ['a'], verbs: ['get', 'list', 'delete', 'create'] }),
      bound(),
      soon(asRobot(`GET ${configMaps}/a`, 200)),
      asRobot(`GET ${configMaps}/b`, 403),
      asRobot(`GET ${configMaps}`, 403),
      asRobot(`GET ${configMaps}?fieldSelector=metadata.name%3Da`, 200),
      asRobot(`POST ${configMaps}`, 403, { body: { metadata: { name: 'a' } } }),
    ],
  },
  {
    name: 'a subresource is a right of its own',
    steps: [
      {
        request: 'POST /apis/contract.example.com/v1/namespaces/{ns}/widgets',
        body: { apiVersion: 'contract.example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 1 } },
        status: 201,
      },
      role({ apiGroups: ['contract.example.com'], resources: ['widgets/status'], verbs: ['patch'] }),
      bound(),
      soon(
        asRobot('PATCH /apis/contract.example.com/v1/namespaces/{ns}/widgets/w/status', 200, {
          type: 'application/merge-patch+json',
          body: { status: { phase: 'Done' } },
        }),
      ),
      asRobot('PATCH /apis/contract.example.com/v1/namespaces/{ns}/widgets/w', 403, {
        type: 'application/merge-patch+json',
        body: { spec: { size: 2 } },
      }),
    ],
  },
  {
    name: 'users and groups are bound as accounts are',
    steps: [
      configMap,
      role(readers),
      bound([
        { kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.k8s.io' },
        { kind: 'Group', name: 'crew', apiGroup: 'rbac.authorization.k8s.io' },
        { kind: 'Group', name: 'system:serviceaccounts:{ns}', apiGroup: 'rbac.authorization.k8s.io' },
      ]),
      soon(asRobot(`GET ${configMaps}/a`, 200)),
      { request: `GET ${configMaps}/a`, as: { user: 'ann' }, status: 200 },
      { request: `GET ${configMaps}/a`, as: { user: 'bob' }, status: 403 },
      { request: `GET ${configMaps}/a`, as: { user: 'bob', groups: ['crew'] }, status: 200 },
    ],
  },
  {
    name: 'who impersonates must be allowed to',
    steps: [
      {
        request: `GET ${configMaps}`,
        as: { user: 'bob', groups: ['system:masters'] },
        status: 200,
        pick: () => 'all of them',
      },
      account,
      {
        request: `POST ${core}/serviceaccounts/robot/token`,
        body: { spec: {} },
        status: 201,
        save: { token: 'status.token' },
      },
      { request: `GET ${configMaps}`, as: { user: 'ann' }, token: '{token}', status: 403 },
    ],
  },
  {
    name: 'a token of a ServiceAccount is asked for, and names it',
    steps: [
      account,
      {
        request: `POST ${core}/serviceaccounts/robot/token`,
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } },
        status: 201,
        answer: { kind: 'TokenRequest', status: { token: /./, expirationTimestamp: /Z$/ } },
        save: { token: 'status.token' },
      },
      { request: `GET ${configMaps}`, token: '{token}', status: 403 },
      role(readers),
      bound(),
      { request: `GET ${configMaps}?labelSelector=none`, token: '{token}', status: 200, eventually: true },
      { request: `GET ${configMaps}`, token: 'no-such-token', status: 401 },
      { request: `POST ${core}/serviceaccounts/none/token`, body: { spec: {} }, status: 404 },
      { request: `POST ${core}/serviceaccounts/robot/token`, body: { spec: { expirationSeconds: 5 } }, status: 422 },
    ],
  },
  {
    name: 'a review says whether one may, as kubectl auth can-i asks',
    steps: [
      role(readers, { apiGroups: ['contract.example.com'], resources: ['widgets/status'], verbs: ['patch'] }),
      bound(),
      soon(review({ resourceAttributes: { namespace: '{ns}', verb: 'get', resource: 'configmaps' } }, true)),
      review({ resourceAttributes: { namespace: '{ns}', verb: 'delete', resource: 'configmaps' } }, false),
      review({ resourceAttributes: { verb: 'get', resource: 'configmaps' } }, false),
      review(
        {
          resourceAttributes: {
            namespace: '{ns}',
            verb: 'patch',
            group: 'contract.example.com',
            resource: 'widgets',
            subresource: 'status',
            name: 'w',
          },
        },
        true,
      ),
      review({ nonResourceAttributes: { path: '/version', verb: 'get' } }, true, {
        // By which of two roles that every user has, is a matter of chance.
        pick: (body) => (body as { status: { allowed: boolean } }).status.allowed,
      }),
      review({ nonResourceAttributes: { path: '/secret', verb: 'get' } }, false),
      review({}, false, { status: 422, answer: { reason: 'Invalid' } }),
      {
        ...review({ resourceAttributes: { verb: 'delete', resource: 'nodes' } }, true),
        as: { user: 'root', groups: ['system:masters'] },
      },
    ],
  },
  {
    name: 'a review lists all that one may, as kubectl auth can-i --list asks',
    steps: [
      role(readers, { apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['d'], verbs: ['get'] }),
      bound(),
      soon(review({ resourceAttributes: { namespace: '{ns}', verb: 'get', resource: 'configmaps' } }, true)),
      {
        request: `POST ${reviews}/selfsubjectrulesreviews`,
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectRulesReview',
          spec: { namespace: '{ns}' },
        },
        as: robot,
        status: 201,
      },
      {
        request: `POST ${reviews}/selfsubjectrulesreviews`,
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectRulesReview',
          spec: { namespace: '{ns}' },
        },
        as: { user: 'root', groups: ['system:masters'] },
        status: 201,
      },
    ],
  },
  {
    name: 'nobody gives by a role what they have not got, unless they may escalate',
    steps: [
      role(readers, writers, { ...readers, resources: ['secrets'], resourceNames: ['keys'], verbs: ['get'] }),
      bound(),
      soon(asRobot(`POST ${rbac}/roles?dryRun=All`, 201, { body: aRole({ ...readers, verbs: ['get'] }) })),
      asRobot(`POST ${rbac}/roles?dryRun=All`, 403, {
        body: aRole(
          { ...readers, verbs: ['get', 'delete', 'create'] },
          { ...readers, resources: ['pods', 'pods/log'], verbs: ['list'] },
          { ...readers, resources: ['secrets'], verbs: ['get'] },
          { ...readers, resources: ['secrets'], resourceNames: ['keys'], verbs: ['get'] },
        ),
      }),
      asRobot(`PATCH ${rbac}/roles/r?dryRun=All`, 403, {
        type: 'application/merge-patch+json',
        body: { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
      }),
      asRobot(`PATCH ${rbac}/roles/r?dryRun=All`, 200, {
        type: 'application/merge-patch+json',
        body: { metadata: { labels: { a: 'b' } } },
      }),
      {
        request: `PATCH ${rbac}/roles/r`,
        type: 'application/merge-patch+json',
        body: { rules: [{ ...writers, verbs: ['*'] }] },
        status: 200,
      },
      soon(
        asRobot(`POST ${rbac}/roles?dryRun=All`, 201, {
          body: aRole({ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }),
        }),
      ),
    ],
  },
  {
    name: 'nobody gives by a binding what they have not got, unless they may bind',
    steps: [
      role(writers, { ...writers, resources: ['roles'], resourceNames: ['bindable'], verbs: ['bind'] }),
      bound(),
      ...['bindable', 'other'].map(
        (name): Step => ({
          request: `POST ${rbac}/roles`,
          body: { metadata: { name }, rules: [readers] },
          status: 201,
        }),
      ),
      soon(
        asRobot(`POST ${rbac}/rolebindings?dryRun=All`, 201, { body: aBinding({ kind: 'Role', name: 'bindable' }) }),
      ),
      asRobot(`POST ${rbac}/rolebindings?dryRun=All`, 403, { body: aBinding({ kind: 'Role', name: 'other' }) }),
      asRobot(`POST ${rbac}/rolebindings?dryRun=All`, 404, { body: aBinding({ kind: 'Role', name: 'none' }) }),
      asRobot(`POST ${rbac}/rolebindings?dryRun=All`, 404, { body: aBinding({ kind: 'ClusterRole', name: 'none' }) }),
    ],
  },
  {
    name: 'roles and bindings are checked and completed',
    steps: [
      role(readers),
      bound([{ kind: 'Group', name: 'crew' }]),
      {
        request: `PATCH ${rbac}/rolebindings/b`,
        type: 'application/merge-patch+json',
        body: { roleRef: { name: 'other' } },
        status: 422,
      },
      { ...role({ verbs: ['get'] }), body: { metadata: { name: 'x' }, rules: [{ verbs: ['get'] }] }, status: 422 },
      { ...bound(), body: { metadata: { name: 'x' }, roleRef: { kind: 'Role', name: '' } }, status: 422 },
    ],
  },
];
