import { afterAll, expect, test } from 'vitest';
import * as z from 'zod';
import { diskImageFact, factAttributes } from '../../shared/images/facts.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { defineResource } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { allowedSources, aVMDiskImage } from '../../test/support/builders/images.ts';
import type { MachineOptions } from '../../test/support/builders/machines.ts';
import { createImage, createMachine } from '../../test/support/harness/create.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import declaration from './index.ts';

const fresh = factAttributes(aVMDiskImage());
const harness = await serveFunction(declaration);
const { kube } = harness;
await kube.create(Namespace, { metadata: { name: 'lab' } });
afterAll(harness.close);

const ClusterRole = defineResource(
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', plural: 'clusterroles', namespaced: false },
  { rules: z.array(z.looseObject({ resources: z.array(z.string()) })) },
);
const template = aVMDiskImage().spec;
const policy = { namespace: 'sync-operator', name: 'sync-operator-policy' };
const farm = (name: string) => ({ name, namespace: 'vmdi-farm' });

async function machine(name: string, image: string, spec: MachineOptions['spec'] = { vmDiskImageTemplate: template }) {
  await createMachine(kube, name, image, { spec });
  return { name, namespace: 'lab' };
}
const resolvedOf = async (ref: { name: string; namespace: string }) => {
  const found = await kube.get(VirtualMachine, ref);
  const { status, reason } = conditionOf(found?.status?.conditions, 'ImageResolved') ?? {};
  return `${status} ${reason}`;
};

test('the image is created from the template, and ensure-vmdi owns the condition of the machine', async () => {
  const ref = await machine('one', 'one');
  expect(await harness.changed(VirtualMachine, ref)).toBe(202);
  expect(await kube.get(VMDiskImage, farm('one'))).toMatchObject({
    metadata: { finalizers: ['pelotech.ot/disk-image'], labels: { 'pelotech.ot/requested-by': 'one' } },
    spec: template,
  });
  expect(await resolvedOf(ref)).toBe('True ImageFound');
  const managers = (await kube.get(VirtualMachine, ref))?.metadata.managedFields;
  expect(managers).toContainEqual(
    expect.objectContaining({ manager: 'ensure-vmdi', operation: 'Apply', subresource: 'status' }),
  );
});

test('a condition that another writer changed, for example a restored backup, is overwritten', async () => {
  const ref = await machine('edited', 'one');
  const conditions = ['ImageResolved', 'Ready'].map((type) => {
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    return { type, status: 'False', reason: 'Restored', message: 'from before', lastTransitionTime };
  });
  const options = { subresource: 'status', fieldManager: 'velero' } as const;
  await kube.patch(VirtualMachine, ref, { status: { conditions } }, options);
  expect(await harness.changed(VirtualMachine, ref)).toBe(202);
  expect(await resolvedOf(ref)).toBe('True ImageFound');
  expect(conditionOf((await kube.get(VirtualMachine, ref))?.status?.conditions, 'Ready')?.reason).toBe('Restored');
});

test('the same event again writes nothing', async () => {
  const ref = await machine('again', 'one');
  await harness.changed(VirtualMachine, ref);
  const before = await kube.get(VirtualMachine, ref);
  expect(await harness.changed(VirtualMachine, ref)).toBe(202);
  expect(await kube.get(VirtualMachine, ref)).toEqual(before);
});

test('of many machines that ask at once all go on with one image', async () => {
  const refs = await Promise.all(Array.from({ length: 60 }, (_, index) => machine(`many-${index}`, 'many')));
  expect(await Promise.all(refs.map((ref) => harness.changed(VirtualMachine, ref)))).toEqual(refs.map(() => 202));
  expect(new Set(await Promise.all(refs.map(resolvedOf)))).toEqual(new Set(['True ImageFound']));
  expect((await kube.list(VMDiskImage)).filter(({ metadata }) => metadata.name === 'many')).toHaveLength(1);
});

test('the image that came wakes all that name it', async () => {
  const refs = [await machine('waits-1', 'late', {}), await machine('waits-2', 'late', { mode: 'FailIfNotExist' })];
  for (const ref of refs) await harness.changed(VirtualMachine, ref);
  expect(await Promise.all(refs.map(resolvedOf))).toEqual(['False ImageMissing', 'False ImageMissing']);
  await createImage(kube, 'late');
  expect(await harness.message(diskImageFact('queued'), farm('late'), fresh)).toBe(202);
  expect(await Promise.all(refs.map(resolvedOf))).toEqual(['True ImageFound', 'True ImageFound']);
});

test('a difference is one Event, whatever comes after it', async () => {
  const ref = await machine('differs', 'one', { vmDiskImageTemplate: { ...template, diskSize: '8Gi' } });
  await harness.changed(VirtualMachine, ref);
  await harness.message(diskImageFact('queued'), farm('one'), fresh);
  await harness.audit();
  const events = await kube.list(Event, { namespace: 'lab', fieldSelector: 'reason=TemplateMismatch' });
  expect(events).toMatchObject([
    {
      type: 'Warning',
      message: expect.stringContaining('diskSize (24Gi, not 8Gi)'),
      involvedObject: { name: 'differs' },
    },
  ]);
});

test('a missing namespace is reported, and the machine continues as soon as it exists', async () => {
  await kube.patch(ConfigMap, policy, { data: { imageNamespaces: 'vmdi-farm golden' } });
  const ref = await machine('homeless', 'x', {
    vmDiskImageRef: { name: 'x', namespace: 'golden' },
    vmDiskImageTemplate: template,
  });
  expect(await harness.changed(VirtualMachine, ref)).toBe(202);
  expect(await resolvedOf(ref)).toBe('False ImageNamespaceMissing');
  await kube.create(Namespace, { metadata: { name: 'golden' } });
  expect(await harness.changed(Namespace, { name: 'golden' }, 'add')).toBe(202);
  expect(await resolvedOf(ref)).toBe('True ImageFound');
});

test('a policy that allows it now heals what it did not allow', async () => {
  await kube.patch(ConfigMap, policy, { data: { allowedSources: 'https://elsewhere.example/*' } });
  const ref = await machine('forbidden', 'forbidden');
  await harness.changed(VirtualMachine, ref);
  expect(await resolvedOf(ref)).toBe('False SourceNotAllowed');
  expect(await kube.get(VMDiskImage, farm('forbidden'))).toBeUndefined();
  await kube.patch(ConfigMap, policy, { data: { allowedSources } });
  expect(await harness.changed(ConfigMap, policy)).toBe(202);
  expect(await resolvedOf(ref)).toBe('True ImageFound');
});

test('what no event told the audit finds', async () => {
  const ref = await machine('unheard', 'unheard');
  expect(await harness.audit()).toBe(202);
  expect(await resolvedOf(ref)).toBe('True ImageFound');
});

test('a refusal of the API server is quoted, and the image is created once it is accepted', async () => {
  const role = { name: 'sync-operator-ensure-vmdi' };
  const before = await kube.get(ClusterRole, role);
  const rules = before?.rules.filter(({ resources }) => !resources.includes('vmdiskimages'));
  const reading = { apiGroups: ['pelotech.ot'], resources: ['vmdiskimages'], verbs: ['get'] };
  await kube.patch(ClusterRole, role, { rules: [...(rules ?? []), reading] });
  const ref = await machine('refused', 'refused');
  expect(await harness.changed(VirtualMachine, ref)).toBe(202);
  expect(await resolvedOf(ref)).toBe('False ImageRefused');
  const { message } = conditionOf((await kube.get(VirtualMachine, ref))?.status?.conditions, 'ImageResolved') ?? {};
  expect(message).toContain('cannot create resource "vmdiskimages"');
  await kube.patch(ClusterRole, role, { rules: before?.rules });
  expect(await harness.audit()).toBe(202);
  expect(await resolvedOf(ref)).toBe('True ImageFound');
});

test('a machine that is gone is no error', async () => {
  expect(await harness.changed(VirtualMachine, { name: 'gone', namespace: 'lab' })).toBe(202);
});
