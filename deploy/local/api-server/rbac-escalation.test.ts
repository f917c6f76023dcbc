import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realClock } from '../clock.ts';
import { type ApiServer, startApiServer } from './api-server.ts';
import { clientOf } from './test-client.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const own = `${rbac}/namespaces/default`;

let server: ApiServer;
let asAdmin: ReturnType<typeof clientOf>;
let asRobot: ReturnType<typeof clientOf>;
beforeAll(async () => {
  server = await startApiServer({ clock: realClock });
  asAdmin = clientOf(server);
  asRobot = clientOf(server, server.tokenFor({ namespace: 'default', name: 'robot' }));
  await asAdmin(`POST ${own}/roles`, role('robot', ...robotRules));
  await asAdmin(`POST ${own}/rolebindings`, binding('robot', { kind: 'Role', name: 'robot' }));
  await asAdmin(`POST ${own}/roles`, role('all', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }));
  await asAdmin(`POST ${own}/roles`, role('bindable', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }));
});
afterAll(() => server.close());

const group = 'rbac.authorization.k8s.io';
const reading = { apiGroups: [''], resources: ['configmaps', 'pods/*'], verbs: ['get', 'list'] };
const robotRules = [
  { apiGroups: [group], resources: ['roles', 'rolebindings'], verbs: ['create', 'update', 'patch', 'get'] },
  { apiGroups: [group], resources: ['roles'], resourceNames: ['bindable'], verbs: ['bind'] },
  { apiGroups: [''], resources: ['configmaps', '*/log'], verbs: ['get', 'list'] },
  { apiGroups: [''], resources: ['secrets'], resourceNames: ['keys'], verbs: ['get'] },
];
const role = (name: string, ...rules: object[]) => ({ metadata: { name }, rules });
const binding = (name: string, roleRef: object) => ({
  metadata: { name },
  roleRef: { apiGroup: group, ...roleRef },
  subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
});

describe('who writes a role', () => {
  test.each([
    ['what it holds', { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
    [
      'one object of all it holds',
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['get'] },
    ],
    ['a subresource of all kinds', { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }],
  ])('may give %s', async (what, rule) => {
    const answer = await asRobot(`POST ${own}/roles`, role(`may-${what.replaceAll(' ', '-')}`, rule));
    expect(answer.status, answer.body.message).toBe(201);
  });

  test('receives one line for each resource with the rights that it lacks', async () => {
    const { status, body } = await asRobot(
      `POST ${own}/roles`,
      role(
        'more',
        reading,
        { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'delete', 'create'] },
      ),
    );
    expect(status).toBe(403);
    expect(body).toMatchObject({ reason: 'Forbidden', details: { name: 'more', group, kind: 'roles' } });
    expect(body.message).toBe(
      'roles.rbac.authorization.k8s.io "more" is forbidden: user "system:serviceaccount:default:robot" (groups=["system:serviceaccounts" "system:serviceaccounts:default" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["delete" "create"]}\n' +
        '{APIGroups:[""], Resources:["pods/*"], Verbs:["get" "list"]}\n' +
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
    );
  });

  test('is asked when it changes one too, but not for what the garbage collector needs', async () => {
    const change = { metadata: { finalizers: ['a.example/b'] } };
    expect((await asRobot(`PATCH ${own}/roles/all`, change)).status).toBe(200);
    expect((await asRobot(`PATCH ${own}/roles/all`, { metadata: { labels: { a: 'b' } } })).status).toBe(403);
    await asAdmin(`PATCH ${own}/roles/all`, { metadata: { finalizers: null } });
  });

  test('may give everything with the verb escalate', async () => {
    const escalation = { apiGroups: [group], resources: ['roles'], verbs: ['escalate'] };
    await asAdmin(`PATCH ${own}/roles/robot`, { rules: [...robotRules, escalation] });
    const answer = await asRobot(
      `POST ${own}/roles`,
      role('escalated', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }),
    );
    expect(answer.status).toBe(201);
    await asAdmin(`PATCH ${own}/roles/robot`, { rules: robotRules });
  });
});

describe('who binds a role', () => {
  test('must hold what is in it', async () => {
    const { status, body } = await asRobot(`POST ${own}/rolebindings`, binding('x', { kind: 'Role', name: 'all' }));
    expect(status).toBe(403);
    expect(body.message).toContain('{APIGroups:["*"], Resources:["*"], Verbs:["*"]}');
  });

  test('needs no more than the verb bind on it', async () => {
    const made = await asRobot(`POST ${own}/rolebindings`, binding('y', { kind: 'Role', name: 'bindable' }));
    expect(made.status).toBe(201);
    await asAdmin(`DELETE ${own}/rolebindings/y`);
  });

  test('receives an error for a missing role', async () => {
    const { status, body } = await asRobot(
      `POST ${own}/rolebindings`,
      binding('z', { kind: 'ClusterRole', name: 'none' }),
    );
    expect([status, body.message]).toEqual([404, 'rolebindings.rbac.authorization.k8s.io "none" not found']);
    const asAdmins = await asAdmin(`POST ${own}/rolebindings`, binding('z', { kind: 'ClusterRole', name: 'none' }));
    expect(asAdmins.status).toBe(201);
  });
});
