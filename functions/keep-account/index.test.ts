import { afterAll, describe, expect, test } from 'vitest';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { credentialsFinalizer } from '../../shared/kinds/kupenstack/condition.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { administratorOf, secretFor, serveOnOpenStack } from '../../test/support/harness/openstack-harness.ts';
import { heardWhile, quietly } from '../../test/support/tools/captured-output.ts';
import declaration from './index.ts';

const harness = await serveOnOpenStack(declaration);
afterAll(harness.close);
const { kube, reads } = harness;
const account = { ...administratorOf(harness.openStack), password: 'hunter2' };
const unguarded = { finalizers: [] };
for (const namespace of ['red', 'blue', 'grey']) await harness.namespace(namespace, account, unguarded);
await harness.namespace('bare');
await kube.create(Secret, secretFor(account, { namespace: operatorNamespace, ...unguarded }));

const specs: Readonly<Record<string, object>> = {
  Volume: { size: '1Gi' },
  VirtualNetwork: {},
  VirtualMachine: { vcpu: 1, memory: '64Mi', diskAttachments: [{ name: 'disk' }] },
};
const create = (resource: Resource, namespace: string) => {
  const { apiVersion, kind } = resource;
  return kube.create(resource, { apiVersion, kind, metadata: { namespace, name: 'x' }, spec: specs[kind] });
};
const finalizersOf = async (namespace: string) =>
  (await kube.get(Secret, { namespace, name: credentialsName }))?.metadata.finalizers ?? [];
const kinds: Resource[] = [KupenStackMachine, VirtualNetwork, Volume];
const lists = (namespace: string) => kinds.map(({ kind }) => `list ${kind} ${namespace} limit=1`).sort();

describe('an event', () => {
  test.each(kinds)(
    'about a $kind reads the credentials of its namespace and that object; others that may need them only if it was deleted',
    async (kind) => {
      await create(kind, 'red');
      reads.length = 0;
      expect(await harness.begin().changed(kind, { namespace: 'red', name: 'x' })).toBe(202);
      expect(reads[0]).toBe(`get Secret red/${credentialsName}`);
      expect(reads.slice(1)).toEqual([`get ${kind.kind} red/x`]);
      expect(await finalizersOf('red')).toEqual([credentialsFinalizer]);
      await kube.delete(kind, { namespace: 'red', name: 'x' });
      reads.length = 0;
      expect(await harness.begin().changed(kind, { namespace: 'red', name: 'x' })).toBe(202);
      expect(reads.slice(2).sort()).toEqual(lists('red'));
      expect(await finalizersOf('red')).toEqual([]);
    },
  );
  test('in a namespace without credentials reads nothing else', async () => {
    reads.length = 0;
    expect(await harness.begin().changed(Volume, { namespace: 'bare', name: 'x' })).toBe(202);
    expect(reads).toEqual([`get Secret bare/${credentialsName}`]);
  });
  test('of the audit is about all credentials but those of the operator', async () => {
    await create(Volume, 'blue');
    reads.length = 0;
    expect(await harness.begin().audit()).toBe(202);
    expect(reads[0]).toBe(`list Secret metadata.name=${credentialsName}`);
    const accounts = ['blue', 'grey', 'red'].map((name) => `get Secret ${name}/${credentialsName}`);
    expect(reads.slice(1, 4).sort()).toEqual(accounts);
    expect(reads.slice(4).sort()).toEqual([...lists('red'), ...lists('blue'), ...lists('grey')].sort());
    expect(await finalizersOf('blue')).toEqual([credentialsFinalizer]);
    for (const namespace of ['red', 'grey', operatorNamespace]) expect(await finalizersOf(namespace)).toEqual([]);
  });
});

test('credentials that are deleted stay until nothing needs them', async () => {
  const ref = { namespace: 'blue', name: credentialsName };
  await harness.begin().audit();
  await kube.delete(Secret, ref);
  await harness.begin().audit();
  expect((await kube.get(Secret, ref))?.metadata.deletionTimestamp).toBeDefined();
  await kube.delete(Volume, { namespace: 'blue', name: 'x' });
  await harness.begin().changed(Volume, { namespace: 'blue', name: 'x' });
  expect(await kube.get(Secret, ref)).toBeUndefined();
});

test('a crash after any write, and another process, come to the same end', async () => {
  await create(Volume, 'grey');
  const dying = harness.begin({ diesAfterWrites: 1 });
  await quietly(() => dying.changed(Volume, { namespace: 'grey', name: 'x' }));
  expect(dying.isDead()).toBe(true);
  await harness.begin().changed(Volume, { namespace: 'grey', name: 'x' });
  expect(await finalizersOf('grey')).toEqual([credentialsFinalizer]);
});

test('the credentials are in no action, log or span', async () => {
  const heard = await heardWhile(async () => {
    const process = harness.begin();
    const finalizers = [credentialsFinalizer];
    await kube.patch(Secret, { namespace: 'red', name: credentialsName }, { metadata: { finalizers } });
    await process.audit();
    expect(process.actions).toHaveLength(1);
    return process.actions;
  });
  expect(heard).toContain('patchMetadata Secret');
  expect(heard).not.toContain('hunter2');
  expect(heard).not.toContain(secretFor(account, {}).data?.['clouds.yaml']);
});
