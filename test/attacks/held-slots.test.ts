import { afterAll, beforeAll, expect, test } from 'vitest';
import ensureVmdi from '../../functions/ensure-vmdi/index.ts';
import startSync from '../../functions/start-sync/index.ts';
import { holdersOf, leaseRef } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { policyRef } from '../../shared/policy.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { createMachine } from '../stories/machines.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import { type FunctionHarness, type Instance, serveFunction } from '../support/harness/function-harness.ts';
import { anAttacker, mayMakeMachines } from './attacker.ts';

const { secretRef: _, ...template } = aVMDiskImage().spec;
const keys = { accessKeyId: 'eA==', secretKey: 'eA==' };

let harness: FunctionHarness;
let kube: Kube;
let mallory: Kube;
let slots: Instance;

beforeAll(async () => {
  harness = await serveFunction(ensureVmdi);
  kube = harness.kube;
  mallory = await anAttacker(harness, 'tenant-a', [mayMakeMachines]);
  await kube.create(Secret, { metadata: { name: 'no-keys', namespace: 'tenant-a' }, data: { password: 'eA==' } });
  slots = await harness.beside(startSync);
  await slots.sweep();
});
afterAll(() => harness.close());

/** Images of the attacker's own namespace, each by the template of a machine, and seen by start-sync. */
async function hogs(name: string, wants: object) {
  const refs = Array.from({ length: 4 }, (_, index) => ({ name: `${name}-${index}`, namespace: 'tenant-a' }));
  for (const ref of refs) {
    const url = `https://images.example.com/${ref.name}.img`;
    await createMachine({ kube: mallory, namespace: 'tenant-a' }, ref.name, ref.name, {
      vmDiskImageTemplate: { ...template, sourceType: 'http', url, ...wants },
    });
    expect(await harness.changed(VirtualMachine, ref)).toBe(202);
    expect(await slots.changed(VMDiskImage, ref)).toBe(202);
  }
  return refs;
}
const holders = async () => holdersOf(await kube.get(Lease, leaseRef))?.map(({ image }) => image) ?? [];
const statusOf = async (ref: { name: string; namespace: string }) => {
  const { status } = (await kube.get(VMDiskImage, ref)) ?? {};
  return { phase: status?.phase, reason: conditionOf(status?.conditions, 'Ready')?.reason, message: status?.message };
};

// Gained: no download of anybody starts, for as long as four objects exist.
test.each<[string, object, string, string]>([
  ['missing', { secretRef: 'later' }, 'SecretMissing', 'Expected Secret tenant-a/later (secretRef), found none.'],
  [
    'keyless',
    { secretRef: 'no-keys' },
    'SecretInvalid',
    'in Secret tenant-a/no-keys (secretRef), found no accessKeyId',
  ],
  ['distrusted', { certConfigMap: 'later' }, 'ConfigMapMissing', 'Expected ConfigMap tenant-a/later (certConfigMap)'],
])('images whose %s input can never be mounted hold no slot', async (name, wants, reason, says) => {
  const urgent = { name: `urgent-${name}`, namespace: 'vmdi-farm' };
  const refs = await hogs(name, wants);
  const { apiVersion, kind, spec } = aVMDiskImage();
  await kube.create(VMDiskImage, { apiVersion, kind, metadata: urgent, spec });
  await slots.changed(VMDiskImage, urgent);
  await slots.sweep();
  expect(await holders()).toEqual([`vmdi-farm/${urgent.name}`]);
  expect(await statusOf(urgent)).toMatchObject({ phase: 'Syncing' });
  for (const ref of refs)
    expect(await statusOf(ref)).toMatchObject({ phase: 'Failed', reason, message: expect.stringContaining(says) });
  await kube.delete(VMDiskImage, urgent);
  await kube.patch(VMDiskImage, urgent, { metadata: { finalizers: null } });
});

// Gained: no download of anybody starts, for as long as a server of the attacker sends its bytes slowly.
test('downloads that never end leave the slots that slotsPerNamespace keeps for others', async () => {
  await kube.patch(ConfigMap, policyRef, { data: { slotsPerNamespace: '2' } });
  const refs = await hogs('slow', {});
  const urgent = { name: 'urgent-slow', namespace: 'vmdi-farm' };
  const { apiVersion, kind, spec } = aVMDiskImage();
  await kube.create(VMDiskImage, { apiVersion, kind, metadata: urgent, spec });
  await slots.changed(VMDiskImage, urgent);
  expect(await statusOf(urgent)).toMatchObject({ phase: 'Syncing' });
  expect((await holders()).filter((image) => image.startsWith('tenant-a/'))).toEqual([
    'tenant-a/slow-0',
    'tenant-a/slow-1',
  ]);
  expect(await statusOf(refs[2] ?? urgent)).toMatchObject({
    phase: 'Queued',
    message: expect.stringMatching(
      /^Waiting for a free slot;.* namespace tenant-a may hold 2 \(slotsPerNamespace\)\.$/,
    ),
  });
  for (const ref of [...refs, urgent]) {
    await kube.delete(VMDiskImage, ref);
    await kube.patch(VMDiskImage, ref, { metadata: { finalizers: null } });
  }
  for (const { metadata } of await kube.list(DataVolume)) await kube.delete(DataVolume, metadata);
  await kube.patch(ConfigMap, policyRef, { data: { slotsPerNamespace: null } });
  await slots.sweep();
});

test('they are queued once the Secret exists', async () => {
  const [ref] = await hogs('healed', { secretRef: 'then-there' });
  if (!ref) throw new Error('expected an image, found none');
  expect(await statusOf(ref)).toMatchObject({ phase: 'Failed', reason: 'SecretMissing' });
  await kube.create(Secret, { metadata: { name: 'then-there', namespace: 'tenant-a' }, data: keys });
  // A timer of start-sync looks again.
  await slots.changed(VMDiskImage, ref);
  expect(await statusOf(ref)).toMatchObject({ phase: 'Syncing' });
});
