import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { installationTag, Project } from '../../shared/kinds/openstack/project.ts';
import { uidTag } from '../../shared/kinds/openstack/request.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyName, policyRef } from '../../shared/policy.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import {
  administratorOf,
  byHand,
  secretFor,
  serveOnOpenStack,
  sessionOf,
} from '../../test/support/harness/openstack-harness.ts';
import { heardWhile, quietly } from '../../test/support/tools/captured-output.ts';
import declaration from './index.ts';

const harness = await serveOnOpenStack(declaration);
afterAll(harness.close);
const { kube, clock, openStack, reads } = harness;
const account = administratorOf(openStack);
const administrator = sessionOf(account, clock.now);
await harness.namespace('lab');
const own = secretFor(account, { namespace: operatorNamespace, finalizers: [] });

const uidOf = async (name: string) => (await kube.get(Namespace, { name }))?.metadata.uid ?? '';
const tags = async (uid: string) => ['kupenstack', installationTag(await uidOf(operatorNamespace)), uidTag(uid)];
/** A project as it is made for a namespace of that uid. */
async function makeProject(uid: string, name = `lab-${uid}`) {
  const body = { project: { name, tags: await tags(uid) } };
  const { project } = (await administrator.send(byHand('identity', 'POST', '/projects', body))) as {
    project: { id: string };
  };
  return project.id;
}
const projects = async () => {
  const all = await administrator.list(byHand('identity', 'GET', '/projects?tags=kupenstack'), 'projects', Project);
  return all.map(({ id }) => id);
};
const remove = (id: string) => administrator.send(byHand('identity', 'DELETE', `/projects/${id}`));

beforeEach(async () => {
  for (const id of await projects()) await remove(id);
  if (!(await kube.get(Secret, own.metadata))) await kube.create(Secret, own);
  reads.length = 0;
});

describe('the audit', () => {
  test('without an account of all reads nothing else', async () => {
    await kube.delete(Secret, own.metadata);
    expect(await harness.begin().audit()).toBe(202);
    expect(reads).toEqual([`get Secret ${operatorNamespace}/${credentialsName}`]);
  });
  test('reads the projects of this installation, the namespaces, and then what is in those whose namespace is gone', async () => {
    const id = await makeProject(await uidOf('lab'));
    await makeProject('gone');
    reads.length = 0;
    expect(await harness.begin().audit()).toBe(202);
    expect(reads.filter((read) => read.startsWith('get'))).toEqual(
      expect.arrayContaining([
        `get Secret ${operatorNamespace}/${credentialsName}`,
        `get ConfigMap ${operatorNamespace}/${policyName}`,
      ]),
    );
    const { project } = await administrator.login();
    const found = reads
      .filter((read) => !read.startsWith('get'))
      .map((read) => read.replace(/\?.*/, '').replace(project.id, 'own'));
    const things = ['compute /servers', 'image /v2/images', 'network /v2.0/networks', 'volume /own/volumes'];
    const first = ['identity /projects', 'list Namespace'];
    expect([...found.slice(0, 2), ...found.slice(2, -2).sort(), ...found.slice(-2)]).toEqual([
      ...first,
      ...things,
      ...first,
    ]);
    expect(await projects()).toEqual([id]);
  });
  test('deletes projects whose namespaces are gone, and no others', async () => {
    const stays = await makeProject(await uidOf('lab'));
    await makeProject('gone-1');
    await makeProject('gone-2');
    expect(await harness.begin().audit()).toBe(202);
    expect(await projects()).toEqual([stays]);
  });
  test("leaves another installation's projects alone", async () => {
    const body = { project: { name: 'theirs', tags: ['kupenstack', installationTag('other'), uidTag('gone')] } };
    await administrator.send(byHand('identity', 'POST', '/projects', body));
    await harness.begin().audit();
    expect(await projects()).toHaveLength(1);
  });
  test.each([
    ['a network', 'network', '/v2.0/networks', { network: { name: 'by hand' } }],
    ['a volume', 'volume', '/volumes', { volume: { name: 'by hand', size: 1 } }],
    ['an image', 'image', '/v2/images', { name: 'by hand', disk_format: 'raw', container_format: 'bare' }],
  ] as const)('leaves a project with %s in it, until that is gone', async (_, service, path, body) => {
    const id = await makeProject('gone');
    const { user, roles } = await administrator.login();
    await administrator.send(byHand('identity', 'PUT', `/projects/${id}/users/${user.id}/roles/${roles[0]?.id}`));
    const within = sessionOf(account, clock.now, id);
    const made = (await within.send(byHand(service, 'POST', path, body))) as
      | { id: string }
      | Record<string, { id: string }>;
    clock.step(1000);
    await harness.begin().audit();
    expect(await projects()).toEqual([id]);
    // Glance shows an image bare, the others under a name.
    const { id: thing } = 'id' in made ? made : (Object.values(made)[0] ?? { id: '' });
    await within.send(byHand(service, 'DELETE', `${path}/${thing}`));
    clock.step(1000);
    await harness.begin().audit();
    expect(await projects()).toEqual([]);
  });
  test('that Keystone refuses one project continues with the others', async () => {
    const [first] = [await makeProject('gone-1'), await makeProject('gone-2')];
    openStack.failNext(`DELETE /projects/${first}`, 403);
    await harness.begin().audit();
    expect(await projects()).toEqual([first]);
  });
  test('deletes nothing while OpenStack is out of reach, or does not tell what is in a project', async () => {
    const id = await makeProject('gone');
    for (const operation of ['listProjects', 'listServers', 'listVolumes', 'listNetworks', 'listImages']) {
      openStack.failNext(operation, 500);
      expect(await harness.begin().audit()).toBe(202);
      expect(await projects()).toEqual([id]);
    }
  });
  test('deletes nothing at an address that the policy does not allow', async () => {
    const id = await makeProject('gone');
    await kube.patch(ConfigMap, policyRef, { data: { openstackEndpoints: 'https://only.example/**' } });
    expect(await harness.begin().audit()).toBe(202);
    await kube.patch(ConfigMap, policyRef, { data: { openstackEndpoints: harness.endpoints } });
    expect(await projects()).toEqual([id]);
  });
});

test('a crash after any write, and another process, come to the same end', async () => {
  const stays = await makeProject(await uidOf('lab'));
  for (const diesAfterWrites of [1, 2, 3]) {
    for (const uid of ['gone-1', 'gone-2', 'gone-3']) await makeProject(uid);
    const dying = harness.begin({ diesAfterWrites });
    await quietly(dying.audit);
    expect(dying.isDead()).toBe(true);
    expect(await projects()).toHaveLength(4 - diesAfterWrites);
    expect(await harness.begin().audit()).toBe(202);
    expect(await projects()).toEqual([stays]);
  }
});

test('the credentials are in no action, log or span', async () => {
  const heard = await heardWhile(async () => {
    await makeProject('gone');
    const process = harness.begin();
    await process.audit();
    expect(process.actions).toHaveLength(1);
    return process.actions;
  });
  expect(heard).toContain('openstack deleteProject');
  expect(heard).not.toContain(`"${account.password}"`);
  expect(heard).not.toContain(own.data?.['clouds.yaml']);
});
