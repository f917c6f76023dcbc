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
});
afterAll(() => server.close());

const group = 'rbac.authorization.k8s.io';
const robotRules = [
  { apiGroups: [group], resources: ['roles', 'rolebindings'], verbs: ['create', 'update', 'patch', 'get'] },
  { apiGroups: [''], resources: ['configmaps', '*/log'], verbs: ['get', 'list'] },
];
const role = (name: string, ...rules: object[]) => ({ metadata: { name }, rules });
const binding = (name: string, roleRef: object) => ({
  metadata: { name },
  roleRef: { apiGroup: group, ...roleRef },
  subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
});

// What is refused, in which words, and what `escalate` and `bind` allow: test/proofs/contract/cases-rbac.ts.
describe('who writes a role', () => {
  test.each([
    [
      'one object of all it holds',
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['get'] },
    ],
    ['a subresource of all kinds', { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }],
  ])('may give %s', async (what, rule) => {
    const answer = await asRobot(`POST ${own}/roles`, role(`may-${what.replaceAll(' ', '-')}`, rule));
    expect(answer.status, answer.body.message).toBe(201);
  });

  test('is asked when it changes one too, but not for what the garbage collector needs', async () => {
    const change = { metadata: { finalizers: ['a.example/b'] } };
    expect((await asRobot(`PATCH ${own}/roles/all`, change)).status).toBe(200);
    expect((await asRobot(`PATCH ${own}/roles/all`, { metadata: { labels: { a: 'b' } } })).status).toBe(403);
    await asAdmin(`PATCH ${own}/roles/all`, { metadata: { finalizers: null } });
  });
});

test('the administrator may bind a role that is missing', async () => {
  const missing = binding('z', { kind: 'ClusterRole', name: 'none' });
  expect((await asAdmin(`POST ${own}/rolebindings`, missing)).status).toBe(201);
});
