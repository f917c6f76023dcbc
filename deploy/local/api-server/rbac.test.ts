import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { realClock } from '../clock.ts';
import { type ApiServer, startApiServer } from './api-server.ts';
import { clientOf } from './test-client.ts';

const group = 'rbac.authorization.k8s.io';
const secrets = '/api/v1/namespaces/default/secrets';

let server: ApiServer;
let asAdmin: ReturnType<typeof clientOf>;
let asAccount: ReturnType<typeof clientOf>;

beforeEach(async () => {
  server = await startApiServer({ clock: realClock });
  asAdmin = clientOf(server);
  asAccount = clientOf(server, server.tokenFor({ namespace: 'default', name: 'start-sync' }));
});
afterEach(() => server.close());

const subjects = [{ kind: 'ServiceAccount', name: 'start-sync', namespace: 'default' }];

async function bind(kind: 'Role' | 'ClusterRole', rules: object[], bindingKind: 'RoleBinding' | 'ClusterRoleBinding') {
  const inNamespace = (each: string) => (each.startsWith('Cluster') ? '' : 'namespaces/default/');
  const path = (each: string) => `/apis/${group}/v1/${inNamespace(each)}${each.toLowerCase()}s`;
  await asAdmin(`POST ${path(kind)}`, { metadata: { name: 'r' }, rules });
  const roleRef = { apiGroup: group, kind, name: 'r' };
  await asAdmin(`POST ${path(bindingKind)}`, { metadata: { name: 'b' }, subjects, roleRef });
}

// What a Role allows, by name and to whom: test/proofs/contract/cases-rbac.ts.
describe('a ServiceAccount', () => {
  test('may do everywhere what a ClusterRole bound by a ClusterRoleBinding allows', async () => {
    await bind('ClusterRole', [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }], 'ClusterRoleBinding');
    expect((await asAccount('GET /api/v1/secrets')).status).toBe(200);
    expect((await asAccount(`POST ${secrets}`, { metadata: { name: 's' } })).status).toBe(403);
  });

  test('has a ClusterRole in one namespace only through a RoleBinding', async () => {
    await bind('ClusterRole', [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }], 'RoleBinding');
    expect((await asAccount(`GET ${secrets}`)).status).toBe(200);
    expect((await asAccount('GET /api/v1/secrets')).status).toBe(403);
  });

  test('needs a rule of its own for a subresource', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    await asAdmin(`POST ${pods}`, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    await bind('Role', [{ apiGroups: [''], resources: ['pods'], verbs: ['patch'] }], 'RoleBinding');
    expect((await asAccount(`PATCH ${pods}/p`, {})).status).toBe(200);
    const { body } = await asAccount(`PATCH ${pods}/p/status`, {});
    expect(body.message).toContain('cannot patch resource "pods/status"');
  });

  test('needs create as well where apply, or PUT of a Lease, would make the object', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    const rules = [
      { apiGroups: [''], resources: ['secrets'], verbs: ['patch'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['update'] },
    ];
    await bind('Role', rules, 'RoleBinding');
    const [secret, lease] = [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
      { metadata: { name: 'l' } },
    ];
    const apply = (of: typeof asAdmin) =>
      of(`PATCH ${secrets}/s?fieldManager=f`, secret, { 'content-type': 'application/apply-patch+yaml' });
    expect((await apply(asAccount)).body.message).toContain('cannot create resource "secrets"');
    expect((await asAccount(`PUT ${leases}/l`, lease)).body.message).toContain('cannot create resource "leases"');
    expect((await apply(asAdmin)).status).toBe(201);
    expect((await apply(asAccount)).body).toMatchObject({ metadata: { name: 's' } });
    expect((await asAdmin(`PUT ${leases}/l`, lease)).status).toBe(201);
    const { metadata } = (await asAdmin(`GET ${leases}/l`)).body;
    expect((await asAccount(`PUT ${leases}/l`, { metadata })).status).toBe(200);
  });
});

test('the same ServiceAccount has the same token', () => {
  const account = { namespace: 'a', name: 'b' };
  expect(server.tokenFor(account)).toBe(server.tokenFor(account));
});
