import { afterAll, beforeAll, expect, test } from 'vitest';
import composeWorkspace from '../../functions/compose-workspace/index.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyRef } from '../../shared/policy.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import { aVm } from '../support/builders/roles.ts';
import { type FunctionHarness, serveFunction } from '../support/harness/function-harness.ts';
import { anAuthorOfWorkspaces, mayReadSecretsIn } from './attacker.ts';

let harness: FunctionHarness;
let mallory: Kube;

const secret = (data: Record<string, string>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));

beforeAll(async () => {
  harness = await serveFunction(composeWorkspace);
  const { kube } = harness;
  mallory = await anAuthorOfWorkspaces(harness);
  await kube.patch(ConfigMap, policyRef, {
    data: { networkProvider: 'bridge', ansibleRunnerImage: 'runner:1', ansibleUser: 'ops', ansibleCredentials: 'true' },
  });
  for (const [name, key] of [
    ['workspace-ansible', 'ssh-privatekey'],
    ['workspace-key', 'key'],
  ] as const) {
    const metadata = { name, namespace: operatorNamespace };
    await kube.create(Secret, { metadata, data: secret({ [key]: 'what the site keeps for all its labs' }) });
  }
  const { apiVersion, kind, spec } = aVMDiskImage({ name: 'ubuntu' });
  const image = { name: 'ubuntu', namespace: 'vmdi-farm' };
  await kube.create(VMDiskImage, { apiVersion, kind, metadata: image, spec });
  await kube.patch(VMDiskImage, image, { status: { phase: 'Succeeded' } }, { subresource: 'status' });
});
afterAll(() => harness.close());

/** A lab of one machine whose deploy roles are begun. */
async function runsRoles(name: string) {
  const vms = [aVm({ name: 'router', backingVMDiskImage: 'ubuntu' })];
  const networks = [{ name: 'control-net', cidr: '10.10.0.0/24' }];
  await mallory.create(Workspace, { metadata: { name }, spec: { vms, networks } });
  for (let times = 0; times < 6; times++) {
    expect(await harness.changed(Workspace, { name })).toBe(202);
    const found = await harness.kube.get(VirtualMachine, { name: 'router', namespace: `ws-${name}` });
    if (!found) continue;
    const status = { phase: 'Ready', message: 'Running.', observedGeneration: found.metadata.generation };
    await harness.kube.patch(VirtualMachine, found.metadata, { status }, { subresource: 'status' });
  }
}

/** All that the Secrets of a namespace hold, as the attacker reads it. */
const readsIn = async (namespace: string, called?: string) =>
  (await mallory.list(Secret, { namespace })).flatMap(({ metadata, data = {} }) =>
    called !== undefined && metadata.name !== called
      ? []
      : Object.values(data).map((base64) => Buffer.from(base64, 'base64').toString()),
  );

/** The keys that the machine of a lab lets in as the user of the runner. */
const acceptedBy = async (lab: string) => {
  const machine = await harness.kube.get(VirtualMachine, { name: 'router', namespace: `ws-${lab}` });
  return machine?.spec.users?.find(({ name }) => name === 'ops')?.ssh_authorized_keys ?? [];
};

/** Whether a private key is that of one of these public keys, which it holds itself (OpenSSH's format). */
const opens = (privateKey: string, accepted: readonly string[]) => {
  const bytes = Buffer.from(privateKey.replaceAll(/-----.*-----|\s/g, ''), 'base64');
  return accepted.some((one) => bytes.includes(Buffer.from(one.split(' ')[1] ?? 'none', 'base64')));
};

// Gained: a root login on every machine of every lab, for who may read what is in the namespace of one of them, or write its roles.
test('an author of one workspace reads a key that opens the machines of another', async () => {
  await runsRoles('a');
  await runsRoles('b');
  await mayReadSecretsIn(harness, 'ws-a');
  const key = (await readsIn('ws-a', 'ansible-credentials'))[0] ?? '';
  const theirs = await harness.kube.get(Secret, { name: 'ansible-credentials', namespace: 'ws-b' });
  expect(Object.values(theirs?.data ?? {})).toEqual([expect.any(String)]);
  expect(secret({ key })).not.toEqual({ key: Object.values(theirs?.data ?? {})[0] });
  expect(opens(key, await acceptedBy('b'))).toBe(false);
  expect(opens(key, await acceptedBy('a'))).toBe(true);
});

// Gained: to stand in for a machine of another lab, on a network that both can reach, and to be told what its roles tell it.
test('an author of one workspace reads the host key of a machine of another', async () => {
  const [key = '', ...others] = await readsIn('ws-a', 'ssh-host-keys');
  expect(others).toEqual([]);
  const expectedBy = async (lab: string) => {
    const inventory = await harness.kube.get(ConfigMap, { name: 'ansible-inventory', namespace: `ws-${lab}` });
    return inventory?.data?.known_hosts?.match(/ssh-ed25519 \S+/g) ?? [];
  };
  expect(opens(key, await expectedBy('b'))).toBe(false);
  expect(opens(key, await expectedBy('a'))).toBe(true);
});

test('what the site keeps for all its workspaces is in none of them', async () => {
  expect(await readsIn('ws-a')).not.toContain('what the site keeps for all its labs');
  const site = mallory.get(Secret, { name: 'workspace-key', namespace: operatorNamespace });
  await expect(site).rejects.toMatchObject({ status: 403 });
});
