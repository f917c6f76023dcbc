import { afterAll, beforeAll, expect, test } from 'vitest';
import countRefs from '../../functions/count-refs/index.ts';
import ensureVmdi from '../../functions/ensure-vmdi/index.ts';
import provisionVm from '../../functions/provision-vm/index.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { controlledBy } from '../../shared/kubernetes/ownership.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { createMachine } from '../stories/machines.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import { type FunctionHarness, type Instance, serveFunction } from '../support/harness/function-harness.ts';
import { aReadyImage } from '../support/harness/provision-vm.ts';
import { anAttacker, mayMakeDataVolumes, mayMakeMachines } from './attacker.ts';

let harness: FunctionHarness;
let others: Instance[];
let mallory: Kube;

const secretImage = { name: 'secret-img', namespace: 'tenant-b' };
const farmImage = { name: 'ubuntu', namespace: 'vmdi-farm' };
const secrets = ['merger', 'internal-bucket', 'acme-reader'];

beforeAll(async () => {
  harness = await serveFunction(provisionVm);
  others = [await harness.beside(ensureVmdi), await harness.beside(countRefs)];
  mallory = await anAttacker(harness, 'tenant-a', [mayMakeMachines, mayMakeDataVolumes]);
  const { kube } = harness;
  await kube.create(Namespace, { metadata: { name: 'tenant-b' } });
  const { apiVersion, kind, spec, status } = aReadyImage({
    name: 'Acme merger data room',
    url: 'https://s3.us-gov-west-1.amazonaws.com/internal-bucket/vm.raw',
    secretRef: 'acme-reader',
  });
  for (const metadata of [secretImage, farmImage]) {
    await kube.create(VMDiskImage, { apiVersion, kind, metadata, spec });
    await kube.patch(VMDiskImage, metadata, { status }, { subresource: 'status' });
  }
});
afterAll(() => harness.close());

type Ref = { name: string; namespace: string };

const machineOn = (by: Kube, name: string, image: Ref, spec: object = {}) =>
  createMachine({ kube: by, namespace: 'tenant-a' }, name, image.name, { vmDiskImageRef: image, ...spec });

/** A disk of the attacker's own content, under the name and with the owner of a machine's root disk. */
const plant = (machine: VirtualMachine, annotations: Record<string, string> = {}) =>
  mallory.create(DataVolume, {
    metadata: {
      name: `${machine.metadata.name}-root`,
      namespace: 'tenant-a',
      annotations,
      ownerReferences: [controlledBy(VirtualMachine, machine)],
    },
    spec: { source: { blank: {} }, storage: { resources: { requests: { storage: '1Gi' } } } },
  });

const reconcileAll = async ({ metadata }: VirtualMachine) => {
  for (const instance of [harness, ...others, harness, ...others])
    expect(await instance.changed(VirtualMachine, metadata)).toBe(202);
  return harness.kube.get(VirtualMachine, metadata);
};

// Gained: name, URL, Secret and classes of the private images of any tenant.
test('an author reads the spec of a foreign image, with a disk that was planted before the first look', async () => {
  const template = aVMDiskImage().spec;
  const machine = await machineOn(mallory, 'spy', secretImage, { vmDiskImageTemplate: template });
  await plant(machine);
  const found = await reconcileAll(machine);
  expect(conditionOf(found?.status?.conditions, 'ImageResolved')?.reason).toBe('ImageNamespaceNotAllowed');
  expect(conditionOf(found?.status?.conditions, 'Ready')?.reason).toBe('ImageNamespaceNotAllowed');
  const told = JSON.stringify([found?.status, await harness.kube.list(Event, { namespace: 'tenant-a' })]);
  for (const word of secrets) expect(told).not.toContain(word);
});

// Gained: an image of another tenant that is never pruned, and costs its storage for ever.
test('an author blocks the pruning of a foreign image by references to it', async () => {
  for (const name of ['ref-1', 'ref-2']) {
    const machine = await machineOn(mallory, name, secretImage);
    await plant(machine, { [imageUidLabel]: 'not-its-uid' });
    await reconcileAll(machine);
  }
  const image = await harness.kube.get(VMDiskImage, secretImage);
  expect(image?.status?.references?.count ?? 0).toBe(0);
});

// Gained: a machine that boots what no policy allows, and reports itself Ready.
test('an author boots a disk of choice in place of the image that the policy allows', async () => {
  const machine = await machineOn(mallory, 'own-disk', farmImage);
  const planted = await plant(machine, { [imageUidLabel]: 'not-its-uid' });
  const filled = { status: { phase: 'Succeeded' } };
  await harness.kube.patch(DataVolume, planted.metadata, filled, { subresource: 'status' });
  const found = await reconcileAll(machine);
  expect(conditionOf(found?.status?.conditions, 'Ready')?.reason).toBe('NameTaken');
  expect(found?.status?.rootDisk).toBeUndefined();
  expect(await harness.kube.get(KubeVirtMachine, machine.metadata)).toBeUndefined();
  expect((await harness.kube.get(DataVolume, planted.metadata))?.metadata.uid).toBe(planted.metadata.uid);
});

test('an author puts a disk of choice in the place of the one that was made', async () => {
  const machine = await machineOn(mallory, 'swap', farmImage);
  const before = await reconcileAll(machine);
  const made = await harness.kube.get(DataVolume, { name: 'swap-root', namespace: 'tenant-a' });
  await mallory.delete(DataVolume, { name: 'swap-root', namespace: 'tenant-a' });
  await plant(machine, made?.metadata.annotations);
  const found = await reconcileAll(machine);
  expect(conditionOf(found?.status?.conditions, 'Ready')?.reason).toBe('NameTaken');
  expect(before?.status?.rootDisk).toMatchObject({ made: made?.metadata.uid });
});

test('an author wins the race between the look and the creation of the disk', async () => {
  const machine = await machineOn(mallory, 'race', farmImage);
  const racing = harness.another((kube) => ({
    ...kube,
    create: async (resource, object, ...rest) => {
      if (resource.kind === DataVolume.kind) await plant(machine);
      return kube.create(resource, object, ...rest);
    },
  }));
  await racing.changed(VirtualMachine, machine.metadata);
  expect((await harness.kube.get(VirtualMachine, machine.metadata))?.status?.rootDisk?.made).toBeUndefined();
  const found = await reconcileAll(machine);
  expect(conditionOf(found?.status?.conditions, 'Ready')?.reason).toBe('NameTaken');
});
