import { aWidget, type Cases, type Step, step } from './case.ts';

const core = '/api/v1/namespaces/{ns}';
const configMaps = `${core}/configmaps`;
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}';
const reviews = '/apis/authorization.k8s.io/v1';
const user = 'system:serviceaccount:{ns}:robot';
const robot = { user };

const account = step(`POST ${core}/serviceaccounts`, 201, { body: { metadata: { name: 'robot' } } });

const role = (...rules: unknown[]) => step(`POST ${rbac}/roles`, 201, { body: { metadata: { name: 'r' }, rules } });

const subject = { kind: 'ServiceAccount', name: 'robot', namespace: '{ns}' };
const bound = (subjects: unknown[] = [subject]) =>
  step(`POST ${rbac}/rolebindings`, 201, {
    body: { metadata: { name: 'b' }, roleRef: { kind: 'Role', name: 'r' }, subjects },
  });

const configMap = step(`POST ${configMaps}`, 201, { body: { metadata: { name: 'a' } } });

const asRobot = (request: string, status: number, more: Partial<Step> = {}) =>
  step(request, status, { as: robot, ...more });

/** Asked until the new rights have reached the authorizer. */
const soon = (step: Step): Step => ({ ...step, eventually: true });

const review = (attributes: object, allowed: boolean, more: Partial<Step> = {}) =>
  step(`POST ${reviews}/selfsubjectaccessreviews`, 201, {
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: attributes },
    as: robot,
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

export const rbacCases: Cases = {
  'who is bound to no role may do nothing, and is told what': [
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
  'a Role allows its verbs on its resources in its namespace': [
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
  'resourceNames narrow a rule to objects of these names': [
    configMap,
    role({ ...readers, resourceNames: ['a'], verbs: ['get', 'list', 'delete', 'create'] }),
    bound(),
    soon(asRobot(`GET ${configMaps}/a`, 200)),
    asRobot(`GET ${configMaps}/b`, 403),
    asRobot(`GET ${configMaps}`, 403),
    asRobot(`GET ${configMaps}?fieldSelector=metadata.name%3Da`, 200),
    asRobot(`POST ${configMaps}`, 403, { body: { metadata: { name: 'a' } } }),
  ],
  'a subresource is a right of its own': [
    step('POST /apis/contract.example.com/v1/namespaces/{ns}/widgets', 201, { body: aWidget({ name: 'w' }) }),
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
  'users and groups are bound as accounts are': [
    configMap,
    role(readers),
    bound([
      { kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'Group', name: 'crew', apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'Group', name: 'system:serviceaccounts:{ns}', apiGroup: 'rbac.authorization.k8s.io' },
    ]),
    soon(asRobot(`GET ${configMaps}/a`, 200)),
    step(`GET ${configMaps}/a`, 200, { as: { user: 'ann' } }),
    step(`GET ${configMaps}/a`, 403, { as: { user: 'bob' } }),
    step(`GET ${configMaps}/a`, 200, { as: { user: 'bob', groups: ['crew'] } }),
  ],
  'who impersonates must be allowed to': [
    step(`GET ${configMaps}`, 200, { as: { user: 'bob', groups: ['system:masters'] }, pick: () => 'all of them' }),
    account,
    step(`POST ${core}/serviceaccounts/robot/token`, 201, { body: { spec: {} }, save: { token: 'status.token' } }),
    step(`GET ${configMaps}`, 403, { as: { user: 'ann' }, token: '{token}' }),
  ],
  'a token of a ServiceAccount is asked for, and names it': [
    account,
    step(`POST ${core}/serviceaccounts/robot/token`, 201, {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } },
      answer: { kind: 'TokenRequest', status: { token: /./, expirationTimestamp: /Z$/ } },
      save: { token: 'status.token' },
    }),
    step(`GET ${configMaps}`, 403, { token: '{token}' }),
    role(readers),
    bound(),
    step(`GET ${configMaps}?labelSelector=none`, 200, { token: '{token}', eventually: true }),
    step(`GET ${configMaps}`, 401, { token: 'no-such-token' }),
    step(`POST ${core}/serviceaccounts/none/token`, 404, { body: { spec: {} } }),
    step(`POST ${core}/serviceaccounts/robot/token`, 422, { body: { spec: { expirationSeconds: 5 } } }),
  ],
  'a review says whether one may, as kubectl auth can-i asks': [
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
  'a review lists all that one may, as kubectl auth can-i --list asks': [
    role(readers, { apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['d'], verbs: ['get'] }),
    bound(),
    soon(review({ resourceAttributes: { namespace: '{ns}', verb: 'get', resource: 'configmaps' } }, true)),
    step(`POST ${reviews}/selfsubjectrulesreviews`, 201, {
      body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: '{ns}' } },
      as: robot,
    }),
    step(`POST ${reviews}/selfsubjectrulesreviews`, 201, {
      body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: '{ns}' } },
      as: { user: 'root', groups: ['system:masters'] },
    }),
  ],
  'nobody gives by a role what they have not got, unless they may escalate': [
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
    step(`PATCH ${rbac}/roles/r`, 200, {
      type: 'application/merge-patch+json',
      body: { rules: [{ ...writers, verbs: ['*'] }] },
    }),
    soon(
      asRobot(`POST ${rbac}/roles?dryRun=All`, 201, {
        body: aRole({ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }),
      }),
    ),
  ],
  'nobody gives by a binding what they have not got, unless they may bind': [
    role(writers, { ...writers, resources: ['roles'], resourceNames: ['bindable'], verbs: ['bind'] }),
    bound(),
    ...['bindable', 'other'].map((name) =>
      step(`POST ${rbac}/roles`, 201, { body: { metadata: { name }, rules: [readers] } }),
    ),
    soon(asRobot(`POST ${rbac}/rolebindings?dryRun=All`, 201, { body: aBinding({ kind: 'Role', name: 'bindable' }) })),
    asRobot(`POST ${rbac}/rolebindings?dryRun=All`, 403, { body: aBinding({ kind: 'Role', name: 'other' }) }),
    asRobot(`POST ${rbac}/rolebindings?dryRun=All`, 404, { body: aBinding({ kind: 'Role', name: 'none' }) }),
    asRobot(`POST ${rbac}/rolebindings?dryRun=All`, 404, { body: aBinding({ kind: 'ClusterRole', name: 'none' }) }),
  ],
  'roles and bindings are checked and completed': [
    role(readers),
    bound([{ kind: 'Group', name: 'crew' }]),
    step(`PATCH ${rbac}/rolebindings/b`, 422, {
      type: 'application/merge-patch+json',
      body: { roleRef: { name: 'other' } },
    }),
    { ...role({ verbs: ['get'] }), body: { metadata: { name: 'x' }, rules: [{ verbs: ['get'] }] }, status: 422 },
    { ...bound(), body: { metadata: { name: 'x' }, roleRef: { kind: 'Role', name: '' } }, status: 422 },
  ],
};
