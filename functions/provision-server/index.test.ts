import { describe, expect, test } from 'vitest';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { createFlavor, listFlavors } from '../../shared/kinds/openstack/flavor.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyName } from '../../shared/policy.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { administratorOf, byHand, sessionOf, stageMs } from '../../test/support/harness/openstack-harness.ts';
import { withTwoAccounts } from '../../test/support/harness/two-accounts.ts';
import declaration from './index.ts';

const harness = await withTwoAccounts(declaration, KupenStackMachine, (name) => ({
  vcpu: 1,
  memory: '64Mi',
  diskAttachments: [{ name }],
}));
const { kube, clock, openStack, reads, red, blue, create, statusOf, reasonOf, settle } = harness;
const administrator = sessionOf(administratorOf(openStack), clock.now);
await administrator.send(createFlavor({ vcpus: 1, ram: 64, swap: 0 }));

/** A bootable volume of the account's project. */
async function diskOf(account: typeof red, name: string) {
  const session = sessionOf(account, clock.now);
  const body = { volume: { name, size: 1 } };
  const { volume } = (await session.send(byHand('volume', 'POST', '/volumes', body))) as { volume: { id: string } };
  clock.step(10 * stageMs);
  const set = { 'os-set_bootable': { bootable: true } };
  await session.send(byHand('volume', 'POST', `/volumes/${volume.id}/action`, set));
}
await diskOf(red, 'vm');
await create('red', 'vm');

describe('an event', () => {
  test('is about one machine: it, what it names, its policy and credentials are read, then what its project has of it', async () => {
    const process = harness.begin();
    await settle(process, 'red', 'vm');
    expect(await statusOf('red', 'vm')).toMatchObject({ phase: 'Running', restartCount: 0 });
    clock.step(20_000);
    await settle(process, 'red', 'vm');
    reads.length = 0;
    expect(await process.changed(KupenStackMachine, { namespace: 'red', name: 'vm' })).toBe(202);
    const { uid } = (await kube.get(KupenStackMachine, { namespace: 'red', name: 'vm' }))?.metadata ?? {};
    const shown = (read: string) => read.replaceAll(/[0-9a-f]{32}/g, 'id').replace(uid ?? '', 'uid');
    expect(reads.map(shown).sort()).toEqual([
      'compute /flavors/detail',
      'compute /servers/detail?tags-any=kupenstack:uid=uid',
      `get ConfigMap ${operatorNamespace}/${policyName}`,
      `get Secret red/${credentialsName}`,
      'get VirtualMachine red/vm',
      'get Volume red/vm',
      'network /v2.0/ports?project_id=id&description=kupenstack:uid=uid',
      'volume /id/volumes/detail?name=vm',
    ]);
  });
  test('asks for a network and a volume of its namespace by their uids', async () => {
    const ref = { namespace: 'red', name: 'sibling' };
    const [network, volume] = [
      await kube.create(VirtualNetwork, { metadata: ref, spec: {} }),
      await kube.create(Volume, { metadata: ref, spec: { size: '1Gi' } }),
    ];
    await create('red', 'sibling', { virtualNetworks: ['sibling'] });
    reads.length = 0;
    await harness.begin().changed(KupenStackMachine, ref);
    const asked = reads.join('\n');
    expect(asked).toContain(`&description=kupenstack:uid=${network.metadata.uid}`);
    expect(asked).toContain(`?metadata={"kupenstack:uid":"${volume.metadata.uid}"}`);
    expect(asked).not.toMatch(/volumes\/detail$/m);
  });
  test('lists no machines for the flavors of others, however many sizes there are', async () => {
    await administrator.send(createFlavor({ vcpus: 3, ram: 64, swap: 0 }));
    await create('blue', 'other', { vcpu: 3 });
    reads.length = 0;
    expect(await harness.begin().changed(KupenStackMachine, { namespace: 'red', name: 'vm' })).toBe(202);
    expect(reads).toContain('compute /flavors/detail');
    expect(reads.filter((read) => read.startsWith('list'))).toEqual([]);
  });
  test.each([
    [Volume, { diskAttachments: [{ name: 'mine' }] }],
    [VirtualNetwork, { virtualNetworks: ['mine'] }],
  ])('about a $kind is about the machines of its namespace that name it', async (kind, spec) => {
    const name = `with-${kind.plural}`;
    await create('blue', name, spec);
    await create('red', name, spec);
    reads.length = 0;
    expect(await harness.begin().changed(kind, { namespace: 'blue', name: 'mine' })).toBe(202);
    expect(reads[0]).toBe(`get VirtualMachine blue/${name}`);
    expect(reads.filter((read) => read.startsWith('list'))).toEqual([]);
    expect(reads).not.toContain(`get Secret red/${credentialsName}`);
    expect(await statusOf('blue', name)).toMatchObject({ phase: 'Pending' });
    expect((await statusOf('red', name))?.phase).toBeUndefined();
    reads.length = 0;
    await harness.begin().changed(kind, { namespace: 'blue', name: 'nobodys' });
    expect(reads).toEqual([]);
  });
  test('of the sweep is about all, each project read once', async () => {
    reads.length = 0;
    expect(await harness.begin().sweep()).toBe(202);
    expect(reads[0]).toBe('list VirtualMachine');
    reads.length = 0;
    expect(await harness.begin().audit()).toBe(202);
    expect(reads.filter((read) => read === 'compute /servers/detail')).toHaveLength(2);
  });
});

describe('two namespaces with accounts of their own', () => {
  test("do not find one another's networks and volumes by their names", async () => {
    const session = sessionOf(red, clock.now);
    const body = { network: { name: 'theirs' } };
    await session.send(byHand('network', 'POST', '/v2.0/networks', body));
    for (const namespace of ['red', 'blue']) {
      await create(namespace, 'curious', { virtualNetworks: ['theirs'], diskAttachments: [{ name: 'vm' }] });
      await harness.begin().changed(KupenStackMachine, { namespace, name: 'curious' });
    }
    expect(await reasonOf('red', 'curious')).toBe('NetworkWithoutSubnet');
    const { conditions } = (await statusOf('blue', 'curious')) ?? {};
    expect(conditionOf(conditions, 'NetworksReady')?.reason).toBe('NetworkMissing');
    expect(conditionOf(conditions, 'VolumesReady')?.reason).toBe('VolumeMissing');
  });
  test('have machines of one name, each in its project', async () => {
    await diskOf(blue, 'vm');
    await create('blue', 'vm');
    await settle(harness.begin(), 'blue', 'vm');
    const [a, b] = [await statusOf('red', 'vm'), await statusOf('blue', 'vm')];
    expect([a?.phase, b?.phase]).toEqual(['Running', 'Running']);
    expect(a?.id).not.toBe(b?.id);
  });
  test('do not wait for one another where one has a fault', async () => {
    await harness.namespace('grey', { ...red, password: 'wrong' });
    await create('grey', 'stuck');
    await kube.patch(KupenStackMachine, { namespace: 'blue', name: 'vm' }, { spec: { running: false } });
    for (let looks = 0; looks < 3; looks++) {
      expect(await harness.begin().sweep()).toBe(202);
      clock.step(10 * stageMs);
    }
    expect(await reasonOf('grey', 'stuck')).toBe('CredentialsRefused');
    expect(await statusOf('blue', 'vm')).toMatchObject({ phase: 'Stopped' });
  });
});

test('a server that goes between two reads is no fault of the credentials', async () => {
  await diskOf(red, 'fleeting');
  await create('red', 'fleeting');
  await settle(harness.begin(), 'red', 'fleeting');
  openStack.failNext('listInstanceActions', 404);
  await harness.begin().changed(KupenStackMachine, { namespace: 'red', name: 'fleeting' });
  expect(await reasonOf('red', 'fleeting')).not.toBe('CredentialsRefused');
});

/** `fetch`, but for what is asked at addresses like this one. */
const but = (address: RegExp, answer: () => Response): typeof fetch =>
  (async (url: string, init?: RequestInit) => (address.test(url) ? answer() : fetch(url, init))) as typeof fetch;

test('a flavor is deleted with its last machine, also while Nova still shows the deleted server', async () => {
  const account = administratorOf(openStack);
  await harness.namespace('green', account);
  await diskOf(account, 'large');
  await create('green', 'large', { vcpu: 5 });
  const process = harness.begin();
  await settle(process, 'green', 'large');
  const flavors = async () =>
    ((await administrator.send(listFlavors())) as { flavors: { name: string }[] }).flavors.map(({ name }) => name);
  expect(await flavors()).toContain('kup-5c-64m-0s');
  const ref = { namespace: 'green', name: 'large' };
  await kube.delete(KupenStackMachine, ref);
  await process.changed(KupenStackMachine, ref);
  // It is DELETED for a third of a stage.
  clock.step(1.15 * stageMs);
  await settle(process, 'green', 'large');
  expect(await kube.get(KupenStackMachine, ref)).toBeUndefined();
  expect(await flavors()).not.toContain('kup-5c-64m-0s');
});

test('a server that no list shows, as one in a cell out of reach, is neither left behind nor made once more', async () => {
  await diskOf(red, 'hidden');
  await create('red', 'hidden');
  await settle(harness.begin(), 'red', 'hidden');
  const id = (await statusOf('red', 'hidden'))?.id;
  const blind = harness.begin({ fetch: but(/servers\/detail/, () => Response.json({ servers: [] })) });
  await settle(blind, 'red', 'hidden');
  expect(await statusOf('red', 'hidden')).toMatchObject({ id, phase: 'Running' });
  await kube.delete(KupenStackMachine, { namespace: 'red', name: 'hidden' });
  await settle(blind, 'red', 'hidden');
  expect(await kube.get(KupenStackMachine, { namespace: 'red', name: 'hidden' })).toBeUndefined();
  const shown = sessionOf(red, clock.now).send(byHand('compute', 'GET', `/servers/${id}`));
  await expect(shown).rejects.toMatchObject({ status: 404 });
});

test('garbage from the OpenStack of one namespace holds up no other', async () => {
  await diskOf(red, 'garbled');
  await create('red', 'garbled');
  const garbled = harness.begin({ fetch: but(/os-instance-actions/, () => Response.json({})) });
  await settle(garbled, 'red', 'garbled');
  expect(await garbled.sweep()).toBe(202);
  expect(await reasonOf('red', 'garbled')).toBe('Unreachable');
  await kube.delete(KupenStackMachine, { namespace: 'red', name: 'garbled' });
});

test('a machine with many refused ports reports it', async () => {
  const session = sessionOf(red, clock.now);
  const names = Array.from({ length: 6 }, (_, index) => `many-${index}`);
  for (const [index, name] of names.entries()) {
    const { network } = (await session.send(byHand('network', 'POST', '/v2.0/networks', { network: { name } }))) as {
      network: { id: string };
    };
    const subnet = { network_id: network.id, ip_version: 4, cidr: `10.77.${index}.0/24` };
    await session.send(byHand('network', 'POST', '/v2.0/subnets', { subnet }));
  }
  const { project } = await session.login();
  await administrator.send(byHand('network', 'PUT', `/v2.0/quotas/${project.id}`, { quota: { port: 0 } }));
  await diskOf(red, 'many');
  await create('red', 'many', { virtualNetworks: names });
  await settle(harness.begin(), 'red', 'many');
  expect(await reasonOf('red', 'many')).toBe('QuotaExceeded');
  await administrator.send(byHand('network', 'PUT', `/v2.0/quotas/${project.id}`, { quota: { port: 50 } }));
  await settle(harness.begin(), 'red', 'many');
  expect(await statusOf('red', 'many')).toMatchObject({ phase: 'Running' });
});

test('a member, who may not delete flavors, still releases a machine', async () => {
  const ref = { namespace: 'blue', name: 'vm' };
  for (const namespace of ['red', 'blue', 'grey'])
    for (const { metadata } of await kube.list(KupenStackMachine, { namespace }))
      if (metadata.name !== 'vm' || namespace !== 'blue')
        await kube.patch(KupenStackMachine, metadata, { spec: { vcpu: 7 } });
  await kube.delete(KupenStackMachine, ref);
  await settle(harness.begin(), 'blue', 'vm');
  expect(await kube.get(KupenStackMachine, ref)).toBeUndefined();
});

test('the credentials are in no action, log or span, whether they are good or not', () =>
  harness.expectSecrecy('listServers'));
