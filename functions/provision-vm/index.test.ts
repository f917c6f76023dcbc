import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CustomResourceDefinition } from '../../deploy/local/controller/kinds.ts';
import { diskImageFact } from '../../shared/images/facts.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret, usedAsPassword } from '../../shared/kinds/core/secret.ts';
import { hardwareKinds } from '../../shared/kinds/kubevirt/hardware.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { policyRef } from '../../shared/policy.ts';
import { createImage, createMachine } from '../../test/support/harness/create.ts';
import { type FunctionHarness, serveFunction } from '../../test/support/harness/function-harness.ts';
import { aReadyImage, textIn } from '../../test/support/harness/provision-vm.ts';
import declaration from './index.ts';

let harness: FunctionHarness;
beforeAll(async () => {
  harness = await serveFunction(declaration);
  await harness.kube.create(Namespace, { metadata: { name: 'lab' } });
  await harness.kube.create(Namespace, { metadata: { name: 'lab-2' } });
});
afterAll(() => harness.close());

const farm = 'vmdi-farm';

async function anImage(name: string, isReady = true) {
  await createImage(harness.kube, name);
  if (isReady) await finish(name);
  return { name, namespace: farm };
}

const finish = (name: string) =>
  harness.kube.patch(
    VMDiskImage,
    { name, namespace: farm },
    { status: aReadyImage().status },
    { subresource: 'status' },
  );

async function aMachine(name: string, image: string, spec: object = {}, namespace = 'lab') {
  await createMachine(harness.kube, name, image, { namespace, spec });
  return { name, namespace };
}

const reasonOf = async (ref: { name: string; namespace: string }) =>
  conditionOf((await harness.kube.get(VirtualMachine, ref))?.status?.conditions, 'Ready')?.reason;

const reportKubeVirt = (ref: { name: string; namespace: string }, status: object) =>
  harness.kube.patch(KubeVirtMachine, ref, { status }, { subresource: 'status' });

const dataVolumeOf = ({ name, namespace }: { name: string; namespace: string }) => ({
  name: `${name}-root`,
  namespace,
});
const secretOf = ({ name, namespace }: { name: string; namespace: string }) => ({
  name: `${name}-cloud-init`,
  namespace,
});

test('a machine gets what it needs once its image is ready, and is Ready once KubeVirt runs it', async () => {
  const image = await anImage('first', false);
  const ref = await aMachine('first', 'first');
  expect(await harness.changed(VirtualMachine, ref)).toBe(202);
  expect(await reasonOf(ref)).toBe('ImageQueued');
  expect(await harness.kube.get(DataVolume, dataVolumeOf(ref))).toBeUndefined();
  await finish('first');
  expect(await harness.message(diskImageFact('succeeded'), image)).toBe(202);
  const { metadata } = (await harness.kube.get(VirtualMachine, ref)) ?? {};
  const owned = { metadata: { ownerReferences: [{ uid: metadata?.uid, controller: true }] } };
  expect(await harness.kube.get(DataVolume, dataVolumeOf(ref))).toMatchObject(owned);
  expect(await harness.kube.get(Secret, secretOf(ref))).toMatchObject(owned);
  expect(await harness.kube.get(KubeVirtMachine, ref)).toMatchObject(owned);
  const cloned = { phase: 'Succeeded', conditions: [{ type: 'Bound', status: 'True' }] };
  await harness.kube.patch(DataVolume, dataVolumeOf(ref), { status: cloned });
  await reportKubeVirt(ref, { printableStatus: 'Running', ready: true });
  expect(await harness.changed(KubeVirtMachine, ref)).toBe(202);
  expect((await harness.kube.get(VirtualMachine, ref))?.status).toMatchObject({ phase: 'Ready' });
  expect(harness.published.map(({ type }) => type)).toEqual(['ot.pelotech.virtual-machine.ready.v1']);
  const before = await harness.kube.get(VirtualMachine, ref);
  expect(await harness.audit()).toBe(202);
  expect(await harness.kube.get(VirtualMachine, ref)).toEqual(before);
});

test('children that are deleted come back, by the word of their end or by the audit', async () => {
  await anImage('again');
  const ref = await aMachine('again', 'again');
  await harness.changed(VirtualMachine, ref);
  await harness.kube.delete(DataVolume, dataVolumeOf(ref));
  await harness.changed(DataVolume, dataVolumeOf(ref));
  expect(await harness.kube.get(DataVolume, dataVolumeOf(ref))).toBeDefined();
  await harness.kube.delete(KubeVirtMachine, ref);
  await harness.changed(KubeVirtMachine, ref);
  expect(await harness.kube.get(KubeVirtMachine, ref)).toBeDefined();
  await harness.kube.delete(Secret, secretOf(ref));
  await harness.audit();
  expect(await harness.kube.get(Secret, secretOf(ref))).toBeDefined();
});

test('a preference is looked for until it exists, and a machine that has it outlives it', async () => {
  await anImage('prefers');
  const ref = await aMachine('prefers', 'prefers', { preference: 'windows.11' });
  await harness.changed(VirtualMachine, ref);
  expect(await reasonOf(ref)).toBe('PreferenceMissing');
  expect(await harness.kube.get(DataVolume, dataVolumeOf(ref))).toBeUndefined();
  await harness.kube.create(hardwareKinds.preference, { metadata: { name: 'windows.11' }, spec: {} });
  await harness.audit();
  expect((await harness.kube.get(KubeVirtMachine, ref))?.spec).toMatchObject({ preference: { name: 'windows.11' } });
  await harness.kube.delete(hardwareKinds.preference, { name: 'windows.11' });
  await harness.kube.patch(VirtualMachine, ref, { spec: { resources: { cpu: '4' } } });
  await harness.changed(VirtualMachine, ref);
  expect((await harness.kube.get(KubeVirtMachine, ref))?.spec?.template).toMatchObject({
    spec: { domain: { cpu: { sockets: 4 } } },
  });
});

test('a changed spec reaches the KubeVirt machine and the Secret', async () => {
  await anImage('changes');
  const ref = await aMachine('changes', 'changes');
  await harness.changed(VirtualMachine, ref);
  const spec = { resources: { cpu: '4', memory: '8Gi' }, users: [{ name: 'ops' }] };
  await harness.kube.patch(VirtualMachine, ref, { spec });
  await harness.changed(VirtualMachine, ref);
  expect(await harness.kube.get(KubeVirtMachine, ref)).toMatchObject({
    spec: { template: { spec: { domain: { cpu: { cores: 4 }, memory: { guest: '8Gi' } } } } },
  });
  expect(textIn(await harness.kube.get(Secret, secretOf(ref)), 'userdata')).toContain('ops');
  const before = await harness.kube.get(KubeVirtMachine, ref);
  await harness.changed(VirtualMachine, ref);
  expect(await harness.kube.get(KubeVirtMachine, ref)).toEqual(before);
});

test('a password is read from its Secret once that exists and has the label', async () => {
  await anImage('password');
  const ref = await aMachine('password', 'password', {
    users: [{ name: 'ops', passwordSecretRef: { name: 'login' } }],
  });
  await harness.changed(VirtualMachine, ref);
  expect(await reasonOf(ref)).toBe('PasswordSecretMissing');
  expect(await harness.kube.get(KubeVirtMachine, ref)).toBeUndefined();
  const data = { password: Buffer.from('hunter2\n').toString('base64') };
  const login = { name: 'login', namespace: 'lab' };
  await harness.kube.create(Secret, { metadata: login, data });
  await harness.audit();
  expect(await reasonOf(ref)).toBe('PasswordSecretNotAllowed');
  await harness.kube.patch(Secret, login, { metadata: { labels: usedAsPassword } });
  await harness.audit();
  expect(textIn(await harness.kube.get(Secret, secretOf(ref)), 'userdata')).toContain('plain_text_passwd: "hunter2"');
});

const aNetwork = (name: string, namespace = 'lab') =>
  harness.kube.create(NetworkAttachmentDefinition, { metadata: { name, namespace }, spec: { config: '{}' } });

test('a machine whose network does not exist is made once the network exists', async () => {
  await anImage('network');
  await aNetwork('there');
  await harness.kube.patch(ConfigMap, policyRef, { data: { machineNetworks: 'lab-2' } });
  const spec = { interfaces: [{ network: 'there' }, { network: 'lab-2/late' }] };
  const ref = await aMachine('network', 'network', spec);
  await harness.changed(VirtualMachine, ref);
  expect(await reasonOf(ref)).toBe('NetworkMissing');
  expect((await harness.kube.get(VirtualMachine, ref))?.status?.message).toContain('lab-2/late does not exist');
  expect(await harness.kube.get(DataVolume, dataVolumeOf(ref))).toBeUndefined();
  await aNetwork('late', 'lab-2');
  await harness.audit();
  expect(await harness.kube.get(KubeVirtMachine, ref)).toBeDefined();
  expect(await reasonOf(ref)).toBe('Starting');
});

test('the younger of two machines with one address waits until the older is gone', async () => {
  await anImage('address');
  await aNetwork('edge');
  await aNetwork('edge', 'lab-2');
  const spec = { interfaces: [{ network: 'edge', ipAddress: '10.0.0.5/24' }] };
  const older = await aMachine('older', 'address', spec);
  await harness.changed(VirtualMachine, older);
  const younger = await aMachine('younger', 'address', spec);
  await harness.changed(VirtualMachine, younger);
  expect(await reasonOf(younger)).toBe('AddressInUse');
  expect(await reasonOf(older)).not.toBe('AddressInUse');
  const elsewhere = await aMachine('elsewhere', 'address', spec, 'lab-2');
  await harness.changed(VirtualMachine, elsewhere);
  expect(await reasonOf(elsewhere)).not.toBe('AddressInUse');
  await harness.kube.patch(VirtualMachine, older, { metadata: { finalizers: null } });
  await harness.kube.delete(VirtualMachine, older);
  await harness.changed(VirtualMachine, older);
  expect(await harness.kube.get(KubeVirtMachine, younger)).toBeDefined();
});

test('what belongs to another owner under the name of a child is left alone', async () => {
  await anImage('taken');
  const metadata = { name: 'taken-cloud-init', namespace: 'lab' };
  await harness.kube.create(Secret, { metadata, data: {} });
  const ref = await aMachine('taken', 'taken');
  await harness.changed(VirtualMachine, ref);
  expect(await reasonOf(ref)).toBe('NameTaken');
  expect((await harness.kube.get(Secret, metadata))?.data ?? {}).toEqual({});
  await harness.kube.delete(Secret, metadata);
  await harness.audit();
  expect(await harness.kube.get(KubeVirtMachine, ref)).toBeDefined();
});

test('another policy is heard at once', async () => {
  await anImage('policy');
  const own = policyRef;
  await harness.kube.patch(ConfigMap, own, { data: { imageNamespaces: 'golden' } });
  const ref = await aMachine('policy', 'policy');
  await harness.changed(VirtualMachine, ref);
  expect(await reasonOf(ref)).toBe('ImageNamespaceNotAllowed');
  await harness.kube.patch(ConfigMap, own, { data: { imageNamespaces: null } });
  await harness.changed(ConfigMap, own);
  expect(await harness.kube.get(KubeVirtMachine, ref)).toBeDefined();
});

describe('many machines on one image', () => {
  const count = 60;
  const refs = Array.from({ length: count }, (_, index) => ({ name: `many-${index}`, namespace: 'lab-2' }));

  test('are begun so many a reconcile, and what is lost with the process by the audit', async () => {
    const image = await anImage('many');
    for (const { name, namespace } of refs) await aMachine(name, 'many', {}, namespace);
    const made = async () => {
      const found = await harness.kube.list(KubeVirtMachine, { namespace: 'lab-2' });
      return found.filter(({ metadata }) => metadata.name.startsWith('many-')).length;
    };
    await harness.message(diskImageFact('succeeded'), image);
    expect(await made()).toBe(50);
    await harness.audit();
    expect(await made()).toBe(60);
  });

  test('are all looked at by the audit', async () => {
    const gone = refs[59] ?? { name: '', namespace: '' };
    await harness.kube.delete(KubeVirtMachine, gone);
    await harness.audit();
    expect(await harness.kube.get(KubeVirtMachine, gone)).toBeDefined();
  });
});

test('no Event says a password', async () => {
  const events = await harness.kube.list(Event);
  expect(events.length).toBeGreaterThan(0);
  expect(JSON.stringify(events)).not.toContain('hunter2');
});

test('a machine that is gone is no error', async () => {
  expect(await harness.changed(VirtualMachine, { name: 'gone', namespace: 'lab' })).toBe(202);
});

test('in a cluster without Multus a machine with networks reports MultusMissing, and a machine without networks is made', async () => {
  await anImage('multus');
  await harness.kube.delete(CustomResourceDefinition, { name: 'network-attachment-definitions.k8s.cni.cncf.io' });
  const ref = await aMachine('multus', 'multus', { interfaces: [{ network: 'edge' }] });
  await harness.changed(VirtualMachine, ref);
  expect(await reasonOf(ref)).toBe('MultusMissing');
  const plain = await aMachine('plain', 'multus');
  await harness.changed(VirtualMachine, plain);
  expect(await harness.kube.get(KubeVirtMachine, plain)).toBeDefined();
});
