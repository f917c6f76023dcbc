import { afterAll, beforeAll, expect, test } from 'vitest';
import ensureVmdi from '../../functions/ensure-vmdi/index.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { defineResource } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { createMachine } from '../stories/machines.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import { type FunctionHarness, serveFunction } from '../support/harness/function-harness.ts';
import { anAttacker, mayMakeMachines } from './attacker.ts';

const group = 'admissionregistration.k8s.io/v1';
const clusterWide = { namespaced: false } as const;
const AdmissionPolicy = defineResource(
  { apiVersion: group, kind: 'ValidatingAdmissionPolicy', plural: 'validatingadmissionpolicies', ...clusterWide },
  {},
);
const Binding = defineResource(
  {
    apiVersion: group,
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    ...clusterWide,
  },
  {},
);

const neighbours = ['tenant-b', 'tenant-c', 'tenant-d'];

let harness: FunctionHarness;
let mallory: Kube;

beforeAll(async () => {
  harness = await serveFunction(ensureVmdi);
  mallory = await anAttacker(harness, 'tenant-a', [mayMakeMachines]);
  const { kube } = harness;
  for (const name of neighbours) await kube.create(Namespace, { metadata: { name } });
  const metadata = { name: 'no-images-for-tenant-a' };
  await kube.create(AdmissionPolicy, {
    metadata,
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['pelotech.ot'], apiVersions: ['*'], resources: ['vmdiskimages'], operations: ['CREATE'] },
        ],
      },
      validations: [
        {
          expression: "object.metadata.labels['pelotech.ot/requested-by-namespace'] != 'tenant-a'",
          message: 'tenant-a has used up its images',
        },
      ],
    },
  });
  await kube.create(Binding, { metadata, spec: { policyName: metadata.name, validationActions: ['Deny'] } });
});
afterAll(() => harness.close());

// Gained: an image name, which no one else gets for as long as the attacker's machine asks for it and a webhook of the site refuses that.
test("an author whose image is refused has everyone else's refused, too", async () => {
  const vmDiskImageRef = { name: 'windows-2025', namespace: 'vmdi-farm' };
  const spec = { vmDiskImageRef, vmDiskImageTemplate: aVMDiskImage().spec };
  const machineOf = (kube: Kube, namespace: string) =>
    createMachine({ kube, namespace }, 'vm', vmDiskImageRef.name, spec);
  const resolved = async (namespace: string) => {
    const found = await harness.kube.get(VirtualMachine, { name: 'vm', namespace });
    return conditionOf(found?.status?.conditions, 'ImageResolved');
  };
  await machineOf(mallory, 'tenant-a');
  for (const namespace of neighbours) await machineOf(harness.kube, namespace);
  await harness.audit();
  for (const namespace of neighbours)
    expect(await resolved(namespace)).toMatchObject({ status: 'True', reason: 'ImageFound' });
  await harness.changed(VirtualMachine, { name: 'vm', namespace: 'tenant-a' });
  expect((await harness.kube.get(VMDiskImage, vmDiskImageRef))?.metadata.labels).toMatchObject({
    'pelotech.ot/requested-by-namespace': expect.stringMatching(/^tenant-[bcd]$/),
  });
});

test('the namespace whose image is refused sees the refusal, and no other namespace sees its words', async () => {
  const vmDiskImageRef = { name: 'windows-2022', namespace: 'vmdi-farm' };
  const spec = { vmDiskImageRef, vmDiskImageTemplate: aVMDiskImage().spec };
  const ref = { name: 'refused', namespace: 'tenant-a' };
  await createMachine({ kube: mallory, namespace: ref.namespace }, ref.name, vmDiskImageRef.name, spec);
  await harness.changed(VirtualMachine, ref);
  const found = conditionOf((await harness.kube.get(VirtualMachine, ref))?.status?.conditions, 'ImageResolved');
  expect(found).toMatchObject({ reason: 'ImageRefused', message: expect.stringContaining('has used up its images') });
});

test('a refusal for all is shown to all, however many namespaces ask', async () => {
  const metadata = { name: 'no-images-for-tenant-a' };
  await harness.kube.patch(AdmissionPolicy, metadata, {
    spec: { validations: [{ expression: 'false', message: 'exceeded quota' }] },
  });
  const vmDiskImageRef = { name: 'windows-11', namespace: 'vmdi-farm' };
  const spec = { vmDiskImageRef, vmDiskImageTemplate: aVMDiskImage().spec };
  const namespaces = Array.from({ length: 9 }, (_, index) => `team-${index}`);
  for (const namespace of namespaces) {
    await harness.kube.create(Namespace, { metadata: { name: namespace } });
    await createMachine({ kube: harness.kube, namespace }, 'vm', vmDiskImageRef.name, spec);
  }
  await harness.audit();
  for (const namespace of namespaces) {
    const found = await harness.kube.get(VirtualMachine, { name: 'vm', namespace });
    expect(conditionOf(found?.status?.conditions, 'ImageResolved')?.reason).toBe('ImageRefused');
  }
});
