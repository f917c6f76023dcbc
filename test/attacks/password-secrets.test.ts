import { afterAll, beforeAll, expect, test } from 'vitest';
import provisionVm from '../../functions/provision-vm/index.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { createMachine } from '../stories/machines.ts';
import { type FunctionHarness, serveFunction } from '../support/harness/function-harness.ts';
import { aReadyImage } from '../support/harness/provision-vm.ts';
import { anAttacker, mayMakeMachines } from './attacker.ts';

const namespace = 'tenant-a';
const stolen = 'what-no-guest-may-read';

let harness: FunctionHarness;
let mallory: Kube;

beforeAll(async () => {
  harness = await serveFunction(provisionVm);
  mallory = await anAttacker(harness, namespace, [mayMakeMachines]);
  const { apiVersion, kind, spec, status } = aReadyImage();
  const image = { name: 'ubuntu', namespace: 'vmdi-farm' };
  await harness.kube.create(VMDiskImage, { apiVersion, kind, metadata: image, spec });
  await harness.kube.patch(VMDiskImage, image, { status }, { subresource: 'status' });
});
afterAll(() => harness.close());

const aSecret = (name: string, key: string, labels: Record<string, string> = {}) =>
  harness.kube.create(Secret, {
    metadata: { name, namespace, labels },
    data: { [key]: Buffer.from(stolen).toString('base64') },
  });

/** A machine of the attacker's with the content of a Secret as its password, and its status. */
async function machineWith(name: string, reference: { name: string; key: string }) {
  const vmDiskImageRef = { name: 'ubuntu', namespace: 'vmdi-farm' };
  const users = [{ name: 'mallory', passwordSecretRef: reference }];
  const { metadata } = await createMachine({ kube: mallory, namespace }, name, 'ubuntu', { vmDiskImageRef, users });
  expect(await harness.changed(VirtualMachine, metadata)).toBe(202);
  return metadata;
}

const readyOf = async (ref: { name: string }) =>
  conditionOf((await harness.kube.get(VirtualMachine, { ...ref, namespace }))?.status?.conditions, 'Ready');

const userData = async ({ name }: { name: string }) => {
  const secret = await harness.kube.get(Secret, { name: `${name}-cloud-init`, namespace });
  return secret && Buffer.from(secret.data?.userdata ?? '', 'base64').toString();
};

// Gained: the content of every Secret of the namespace whose name is known, for an author who may read none: it is in the guest.
test.each([
  ['an application', 'database', 'url', 'default'],
  ['the registry', 'pull', '.dockerconfigjson', 'default'],
  ['the roles of a workspace', 'ansible-credentials', 'ssh-privatekey', 'never'],
  ['an OpenStack account', 'openstack-credentials', 'clouds.yaml', 'never'],
])('an author reads a Secret of %s in a guest', async (_, name, key, label) => {
  await aSecret(name, key);
  const ref = await machineWith(`reads-${name}`, { name, key });
  expect(await userData(ref)).toBeUndefined();
  expect(await harness.kube.get(DataVolume, { name: `${ref.name}-root`, namespace })).toBeUndefined();
  expect(await harness.kube.get(KubeVirtMachine, { name: ref.name, namespace })).toBeUndefined();
  expect(await readyOf(ref)).toMatchObject({
    reason: 'PasswordSecretNotAllowed',
    message:
      label === 'never'
        ? expect.stringMatching(`^[^\\n]*Secret ${namespace}/${name}[^\\n]*name another Secret[^\\n]*$`)
        : expect.stringMatching(
            `^[^\\n]*kubectl label secret ${name} -n ${namespace} pelotech.ot/use=password[^\\n]*$`,
          ),
  });
});

test.each(['ansible-credentials', 'openstack-credentials'])('the label makes %s no password', async (name) => {
  await harness.kube.patch(Secret, { name, namespace }, { metadata: { labels: { 'pelotech.ot/use': 'password' } } });
  const ref = await machineWith(`labelled-${name}`, {
    name,
    key: name.startsWith('a') ? 'ssh-privatekey' : 'clouds.yaml',
  });
  expect(await userData(ref)).toBeUndefined();
  expect((await readyOf(ref))?.reason).toBe('PasswordSecretNotAllowed');
});

test('a refused Secret does not reveal which keys it has', async () => {
  const messages = await Promise.all(
    ['url', 'no-such-key'].map(
      async (key) => (await readyOf(await machineWith(`probes-${key}`, { name: 'database', key })))?.message,
    ),
  );
  expect(messages[0]).toBe(messages[1]);
});

test('a machine that runs takes no Secret by an edit', async () => {
  await aSecret('login', 'password', { 'pelotech.ot/use': 'password' });
  const ref = await machineWith('editor', { name: 'login', key: 'password' });
  const before = await userData(ref);
  expect(before).toContain(stolen);
  const users = [{ name: 'mallory', passwordSecretRef: { name: 'ansible-credentials', key: 'ssh-privatekey' } }];
  await mallory.patch(VirtualMachine, { name: ref.name, namespace }, { spec: { users } });
  await harness.changed(VirtualMachine, ref);
  expect(await userData(ref)).toBe(before);
});

test.each<[string, Record<string, string>]>([
  ['no label', {}],
  ['the label of passwords', { 'pelotech.ot/use': 'password' }],
])('a Secret with %s is no host key of a guest', async (label, labels) => {
  const name = `no-host-key-${label.length}`;
  await aSecret(name, 'key', labels);
  const vmDiskImageRef = { name: 'ubuntu', namespace: 'vmdi-farm' };
  const spec = { vmDiskImageRef, sshHostKeySecretRef: { name, key: 'key' } };
  const { metadata } = await createMachine({ kube: mallory, namespace }, name, 'ubuntu', spec);
  await harness.changed(VirtualMachine, metadata);
  expect((await readyOf(metadata))?.reason).toBe('HostKeyMissing');
  await harness.kube.patch(Secret, { name, namespace }, { metadata: { labels: { 'pelotech.ot/use': 'host-key' } } });
  await harness.changed(VirtualMachine, metadata);
  expect(await userData(metadata)).toContain(stolen);
});

test('the Secret of another machine is no password', async () => {
  const ref = await machineWith('looks-aside', { name: 'editor-cloud-init', key: 'userdata' });
  expect((await readyOf(ref))?.reason).toBe('PasswordSecretNotAllowed');
});

// Gained: no machine of anyone is looked at any more, for the reconcile fails with all machines in it, each audit too.
test.each(['constructor', 'toString', '__proto__'])(
  'a password in key %s, which no Secret has, stops no other machine',
  async (key) => {
    const name = `has-${key.toLowerCase().replaceAll('_', '')}`;
    await aSecret(name, 'password', { 'pelotech.ot/use': 'password' });
    const ref = await machineWith(name, { name, key });
    expect(await readyOf(ref)).toMatchObject({ reason: 'PasswordSecretMissing' });
    expect(await harness.audit()).toBe(202);
  },
);

test.each(['constructor', 'toString', '__proto__'])(
  'a host key in key %s stops no other machine, either',
  async (key) => {
    const name = `host-${key.toLowerCase().replaceAll('_', '')}`;
    await aSecret(name, 'key', { 'pelotech.ot/use': 'host-key' });
    const vmDiskImageRef = { name: 'ubuntu', namespace: 'vmdi-farm' };
    const spec = { vmDiskImageRef, sshHostKeySecretRef: { name, key } };
    const { metadata } = await createMachine({ kube: mallory, namespace }, name, 'ubuntu', spec);
    expect(await harness.changed(VirtualMachine, metadata)).toBe(202);
    expect(await readyOf(metadata)).toMatchObject({ reason: 'HostKeyMissing' });
    expect(await harness.audit()).toBe(202);
  },
);
