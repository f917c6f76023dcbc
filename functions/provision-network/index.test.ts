import { describe, expect, test } from 'vitest';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { listNetworks, Network } from '../../shared/kinds/openstack/network.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyName, policyRef } from '../../shared/policy.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { sessionOf } from '../../test/support/harness/openstack-harness.ts';
import { withTwoAccounts } from '../../test/support/harness/two-accounts.ts';
import { quietly } from '../../test/support/tools/captured-output.ts';
import declaration from './index.ts';

const harness = await withTwoAccounts(declaration, VirtualNetwork);
const { kube, clock, openStack, reads, red, blue, create, statusOf, reasonOf } = harness;
const projectOf = async (account: typeof red) => {
  const session = sessionOf(account, clock.now);
  const { project } = await session.login();
  return {
    session,
    id: project.id,
    names: async () =>
      (await session.list(listNetworks(project.id), 'networks', Network)).map(({ name }) => name).sort(),
  };
};

describe('an event', () => {
  test('is about one network: it is read, then its policy, its credentials and what carries its uid', async () => {
    await create('red', 'first');
    const process = harness.begin();
    expect(await process.changed(VirtualNetwork, { namespace: 'red', name: 'first' })).toBe(202);
    expect(await reasonOf('red', 'first')).toBe('Available');
    reads.length = 0;
    expect(await process.changed(VirtualNetwork, { namespace: 'red', name: 'first' })).toBe(202);
    const { uid } = (await kube.get(VirtualNetwork, { namespace: 'red', name: 'first' }))?.metadata ?? {};
    const { id } = await projectOf(red);
    expect([...reads].sort()).toEqual([
      `get ConfigMap ${operatorNamespace}/${policyName}`,
      `get Secret red/${credentialsName}`,
      'get VirtualNetwork red/first',
      `network /v2.0/networks?project_id=${id}&description=kupenstack:uid=${uid}`,
      `network /v2.0/subnets?project_id=${id}&description=kupenstack:uid=${uid}`,
    ]);
  });
  test('about an object that is gone reads nothing else', async () => {
    reads.length = 0;
    expect(await harness.begin().changed(VirtualNetwork, { namespace: 'red', name: 'gone' })).toBe(202);
    expect(reads).toEqual(['get VirtualNetwork red/gone']);
  });
  test('of the sweep is about those that are not Ready, of the audit about all, each project read once', async () => {
    await create('blue', 'second');
    await create('blue', 'third');
    const process = harness.begin();
    reads.length = 0;
    expect(await process.sweep()).toBe(202);
    expect(reads[0]).toBe('list VirtualNetwork');
    expect(reads).not.toContain(`get Secret red/${credentialsName}`);
    expect(await Promise.all(['second', 'third'].map((name) => reasonOf('blue', name)))).toEqual([
      'Available',
      'Available',
    ]);
    reads.length = 0;
    expect(await process.audit()).toBe(202);
    expect(reads.filter((read) => read.startsWith('network'))).toHaveLength(4);
    expect(reads[0]).toBe('list VirtualNetwork');
    expect(reads).toEqual(
      expect.arrayContaining([`get Secret red/${credentialsName}`, `get Secret blue/${credentialsName}`]),
    );
  });
  test('of the sweep is also about an existing network that differs from its spec', async () => {
    await create('red', 'shrinks');
    const process = harness.begin();
    const ref = { namespace: 'red', name: 'shrinks' };
    await process.changed(VirtualNetwork, ref);
    await kube.patch(VirtualNetwork, ref, { spec: { mtu: 1300 } });
    openStack.failNext('updateNetwork', 409);
    await process.changed(VirtualNetwork, ref);
    expect(await reasonOf('red', 'shrinks')).toBe('Conflict');
    await process.sweep();
    expect(await reasonOf('red', 'shrinks')).toBe('Available');
  });
});

describe('two namespaces with accounts of their own', () => {
  test('have networks of one name, each in its project', async () => {
    for (const namespace of ['red', 'blue']) await create(namespace, 'net');
    await harness.begin().sweep();
    const [a, b] = [await statusOf('red', 'net'), await statusOf('blue', 'net')];
    expect(a?.id).toBeDefined();
    expect(a?.id).not.toBe(b?.id);
    const [reds, blues] = [await projectOf(red), await projectOf(blue)];
    expect(await reds.names()).toContain('first');
    expect(await blues.names()).not.toContain('first');
    await expect(
      reds.session.send({ ...listNetworks(reds.id), path: `/v2.0/networks/${b?.id}` }),
    ).rejects.toMatchObject({ status: 404 });
  });
  test('do not wait for one another where one has a fault', async () => {
    await harness.namespace('grey', { ...red, password: 'wrong' });
    await create('grey', 'stuck');
    await create('blue', 'goes-on');
    expect(await harness.begin().sweep()).toBe(202);
    expect(await reasonOf('grey', 'stuck')).toBe('CredentialsRefused');
    expect(await reasonOf('blue', 'goes-on')).toBe('Available');
    expect(await statusOf('blue', 'net')).toMatchObject({ phase: 'Available' });
  });
  test('do not wait for one another if the server of one is no OpenStack', async () => {
    await harness.namespace('black', { ...red, authUrl: 'https://black.example/v3' });
    await create('black', 'stuck');
    await create('blue', 'goes-on-as-well');
    const elsewhere = (async (url: string, init: RequestInit) =>
      url.startsWith('https://black.example')
        ? Response.json({ hello: 1 }, { status: 201, headers: { 'x-subject-token': 'x' } })
        : fetch(url, init)) as typeof fetch;
    const process = harness.begin({ fetch: elsewhere });
    await quietly(process.sweep);
    expect(await reasonOf('blue', 'goes-on-as-well')).toBe('Available');
  });
});

test('the credentials are in no action, log or span, whether they are good or not', () =>
  harness.expectSecrecy('listNetworks'));

test.each([
  ['the policy does not allow it', 'forbidden', 'https://only.example/**'],
  ['the list of endpoints does not parse', 'unreadable', ' '],
])('an address is not asked if %s', async (_, name, openstackEndpoints) => {
  await kube.patch(ConfigMap, policyRef, { data: { openstackEndpoints } });
  await create('red', name);
  await harness.begin().changed(VirtualNetwork, { namespace: 'red', name });
  expect(await reasonOf('red', name)).toBe('EndpointNotAllowed');
});
