import { afterAll, beforeAll, expect, test } from 'vitest';
import ensureVmdi from '../../functions/ensure-vmdi/index.ts';
import preload from '../../functions/preload/index.ts';
import provisionVm from '../../functions/provision-vm/index.ts';
import prune from '../../functions/prune/index.ts';
import startSync from '../../functions/start-sync/index.ts';
import { imagePublished } from '../../shared/events.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { policyRef } from '../../shared/policy.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { createMachine } from '../stories/machines.ts';
import { allowedSources, aVMDiskImage } from '../support/builders/images.ts';
import { signed } from '../support/builders/publications.ts';
import { type FunctionHarness, type Instance, serveFunction } from '../support/harness/function-harness.ts';
import { aReadyImage } from '../support/harness/provision-vm.ts';
import { anAttacker, mayMakeMachines } from './attacker.ts';

const farm = (name: string) => ({ name, namespace: 'vmdi-farm' });
const { spec: wanted } = aVMDiskImage({ name: 'windows-2025' });
const { secretRef: _, ...withoutSecret } = wanted;

let harness: FunctionHarness;
let kube: Kube;
let mallory: Kube;
let others: Record<'preload' | 'provisionVm' | 'prune' | 'startSync', Instance>;

beforeAll(async () => {
  harness = await serveFunction(ensureVmdi);
  kube = harness.kube;
  mallory = await anAttacker(harness, 'tenant-a', [mayMakeMachines]);
  await kube.create(Namespace, { metadata: { name: 'tenant-b' } });
  others = {
    preload: await harness.beside(preload),
    provisionVm: await harness.beside(provisionVm),
    prune: await harness.beside(prune),
    startSync: await harness.beside(startSync),
  };
});
afterAll(() => harness.close());

const aMachine = async (by: Kube, namespace: string, name: string, image: string, template: object | undefined) => {
  await createMachine({ kube: by, namespace }, name, image, {
    vmDiskImageRef: farm(image),
    ...(template ? { vmDiskImageTemplate: { ...withoutSecret, ...template } } : {}),
  });
  expect(await harness.changed(VirtualMachine, { name, namespace })).toBe(202);
  return { name, namespace };
};
const resolvedOf = async (ref: { name: string; namespace: string }) =>
  conditionOf((await kube.get(VirtualMachine, ref))?.status?.conditions, 'ImageResolved');

const evil = { url: 'https://images.example.com/evil.img', sourceType: 'http' };

// Gained: what every other tenant boots.
test('the first to name a golden image chooses its content for no one else', async () => {
  const image = farm('windows-2025');
  const holder = await aMachine(mallory, 'tenant-a', 'holder', 'windows-2025', evil);
  expect(await kube.get(VMDiskImage, image)).toMatchObject({ spec: { url: evil.url } });
  expect((await resolvedOf(holder))?.reason).toBe('ImageFound');
  await kube.patch(VMDiskImage, image, { status: aReadyImage().status }, { subresource: 'status' });

  for (const [name, template] of [
    ['with-the-true-url', { ...wanted, url: 'https://s3.eu-west-1.amazonaws.com/images/windows.qcow2' }],
    ['without-template', undefined],
  ] as const) {
    const victim = await aMachine(kube, 'tenant-b', name, 'windows-2025', template);
    expect(await resolvedOf(victim)).toMatchObject({ status: 'False', reason: 'ImageNotAdopted' });
    expect((await resolvedOf(victim))?.message).not.toContain('evil');
    await others.provisionVm.changed(VirtualMachine, victim);
    expect(await kube.get(DataVolume, { namespace: 'tenant-b', name: `${name}-root` })).toBeUndefined();
  }
});

test('a publisher takes the name back', async () => {
  const url = 'https://s3.eu-west-1.amazonaws.com/images/windows.qcow2';
  const data = { name: 'windows-2025', url };
  expect(await others.preload.message(imagePublished, data, signed(data))).toBe(202);
  const found = await kube.get(VMDiskImage, farm('windows-2025'));
  expect(found).toMatchObject({ metadata: { labels: { 'app.kubernetes.io/created-by': 'preload' } }, spec: { url } });
  const victim = { namespace: 'tenant-b', name: 'without-template' };
  await harness.changed(VirtualMachine, victim);
  expect((await resolvedOf(victim))?.reason).toBe('ImageFound');
});

// Gained: a poisoned name for as long as the attacker keeps one machine.
test('the machine of an attacker keeps no image from an admin who deletes it', async () => {
  const image = farm('held');
  await aMachine(mallory, 'tenant-a', 'keeper', 'held', evil);
  await kube.patch(VMDiskImage, image, { status: aReadyImage().status }, { subresource: 'status' });
  await kube.delete(VMDiskImage, image);
  await others.prune.audit();
  expect(await kube.get(VMDiskImage, image)).toBeDefined();
  await kube.patch(VMDiskImage, image, { metadata: { annotations: { 'pelotech.ot/release-holds': 'true' } } });
  // First Ready goes, then what is left, then the finalizer.
  for (let looks = 0; looks < 3; looks++) await others.prune.audit();
  expect(await kube.get(VMDiskImage, image)).toBeUndefined();
});

// Gained: each object that a Secret of the farm can read, and each service that the importers reach.
test.each<[string, object]>([
  [
    'an object that only the Secret of the farm can read',
    { ...wanted, url: 'https://s3.eu-west-1.amazonaws.com/payroll/db.raw' },
  ],
  ['an allowed object with another Secret of the farm', { ...wanted, secretRef: 'admin-keys' }],
  ["a host of the attacker's with the Secret of the farm", { ...evil, secretRef: 's3-reader' }],
  ['the metadata service', { url: 'http://169.254.169.254/latest/meta-data', sourceType: 'http' }],
  ['the metadata service, written as a number', { url: 'http://2852039166/latest/meta-data', sourceType: 'http' }],
  ['a path that leads out of the allowed one', { url: 'https://images.example.com:8443/x', sourceType: 'http' }],
])('a template reads %s: no image is made', async (what, template) => {
  const name = `reader-${what.length}`;
  const ref = await aMachine(mallory, 'tenant-a', name, name, template);
  expect(await kube.get(VMDiskImage, farm(name))).toBeUndefined();
  expect(await resolvedOf(ref)).toMatchObject({
    reason: 'SourceNotAllowed',
    message: expect.stringContaining('add the line "'),
  });
});

// Gained: the answer of a service inside the cluster, as a disk.
test.each(['http://169.254.169.254/latest/meta-data', 'https://s3.eu-west-1.amazonaws.com/payroll/db.raw'])(
  "an image in the attacker's own namespace downloads nothing from %s",
  async (url) => {
    const ref = { name: `own-${url.length}`, namespace: 'tenant-a' };
    const { apiVersion, kind } = VMDiskImage;
    const spec = { ...withoutSecret, url, sourceType: 'http' as const };
    await kube.create(VMDiskImage, { apiVersion, kind, metadata: ref, spec });
    await others.startSync.changed(VMDiskImage, ref);
    await others.startSync.sweep();
    const found = await kube.get(VMDiskImage, ref);
    expect(found?.status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('Source not allowed') });
    expect(await kube.list(DataVolume, { namespace: 'tenant-a', labelSelector: imageUidLabel })).toEqual([]);
  },
);

// Gained: open sources, by a policy that was lost or misspelt.
test.each<[string, () => Promise<unknown>]>([
  [
    'misspelt',
    () => kube.patch(ConfigMap, policyRef, { data: { allowedSources: null, allowedSource: allowedSources } }),
  ],
  ['deleted', () => kube.delete(ConfigMap, policyRef)],
])('a policy that is %s allows nothing', async (what, change) => {
  const before = await kube.get(ConfigMap, policyRef);
  await change();
  try {
    const ref = await aMachine(mallory, 'tenant-a', what, what, evil);
    expect((await resolvedOf(ref))?.reason).toBe('SourceNotAllowed');
  } finally {
    if (await kube.get(ConfigMap, policyRef)) await kube.delete(ConfigMap, policyRef);
    await kube.create(ConfigMap, { metadata: policyRef, data: before?.data });
  }
});

test('a misspelt key is an Event at the ConfigMap', async () => {
  await kube.patch(ConfigMap, policyRef, { data: { allowedSource: allowedSources } });
  await others.startSync.changed(ConfigMap, policyRef);
  const events = await kube.list(Event, { namespace: policyRef.namespace });
  expect(events.filter(({ reason }) => reason === 'UnknownPolicyKey')).toMatchObject([
    { type: 'Warning', involvedObject: { kind: 'ConfigMap' }, message: expect.stringContaining('allowedSource:') },
  ]);
  await kube.patch(ConfigMap, policyRef, { data: { allowedSource: null } });
});

// Gained: a name that no pipeline can publish again for a hundred years.
test('a publication of the year 2126 locks no one out', async () => {
  const url = 'https://s3.eu-west-1.amazonaws.com/images/locked.qcow2';
  const data = { name: 'locked', url };
  await others.preload.message(imagePublished, data, signed(data, { atMs: Date.parse('2126-01-01T00:00:00Z') }));
  expect(await kube.get(VMDiskImage, farm('locked'))).toBeUndefined();
  await others.preload.message(imagePublished, data, signed(data));
  expect(await kube.get(VMDiskImage, farm('locked'))).toMatchObject({ spec: { url } });
});
