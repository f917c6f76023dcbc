import { afterAll, beforeAll, expect, test } from 'vitest';
import provisionVm from '../../functions/provision-vm/index.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { policyRef } from '../../shared/policy.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { createMachine } from '../stories/machines.ts';
import { type FunctionHarness, serveFunction } from '../support/harness/function-harness.ts';
import { aReadyImage } from '../support/harness/provision-vm.ts';
import { anAttacker, mayMakeMachines } from './attacker.ts';

let harness: FunctionHarness;
let mallory: Kube;

beforeAll(async () => {
  harness = await serveFunction(provisionVm);
  mallory = await anAttacker(harness, 'tenant-a', [mayMakeMachines]);
  const { kube } = harness;
  await kube.create(Namespace, { metadata: { name: 'ws-victim' } });
  for (const namespace of ['ws-victim', 'tenant-a'])
    await kube.create(NetworkAttachmentDefinition, {
      metadata: { name: 'control-net', namespace },
      spec: { config: '{}' },
    });
  const { apiVersion, kind, spec, status } = aReadyImage();
  const image = { name: 'ubuntu', namespace: 'vmdi-farm' };
  await kube.create(VMDiskImage, { apiVersion, kind, metadata: image, spec });
  await kube.patch(VMDiskImage, image, { status }, { subresource: 'status' });
});
afterAll(() => harness.close());

const machine = async (by: Kube, name: string, namespace: string, network: string, ipAddress = '10.10.0.66/24') => {
  const ref = { name, namespace };
  const vmDiskImageRef = { name: 'ubuntu', namespace: 'vmdi-farm' };
  await createMachine({ kube: by, namespace }, name, 'ubuntu', {
    vmDiskImageRef,
    interfaces: [{ network, ipAddress }],
  });
  expect(await harness.changed(VirtualMachine, ref)).toBe(202);
  return ref;
};

const readyOf = async (ref: { name: string; namespace: string }) =>
  conditionOf((await harness.kube.get(VirtualMachine, ref))?.status?.conditions, 'Ready');

const setPolicy = (data: object) => harness.kube.patch(ConfigMap, policyRef, { data });

// Gained: traffic of a lab that should be isolated.
test("an author joins another workspace's isolated network, under an address of choice", async () => {
  const { kube } = harness;
  const ref = await machine(mallory, 'intruder', 'tenant-a', 'ws-victim/control-net');
  expect(await kube.get(KubeVirtMachine, ref)).toBeUndefined();
  expect(await kube.get(DataVolume, { ...ref, name: 'intruder-root' })).toBeUndefined();
  expect(await kube.get(Secret, { ...ref, name: 'intruder-cloud-init' })).toBeUndefined();
  expect(await readyOf(ref)).toMatchObject({
    reason: 'NetworkNotAllowed',
    message: expect.stringMatching(/^[^\n]*machineNetworks: ws-victim[^\n]*$/),
  });
});

test('a refused network tells no one whether it exists', async () => {
  const messages = await Promise.all(
    ['control-net', 'no-such-net'].map(async (name) => {
      const ref = await machine(mallory, `prober-${name}`, 'tenant-a', `ws-victim/${name}`);
      return (await readyOf(ref))?.message.replaceAll(name, 'NET');
    }),
  );
  expect(messages[0]).toBe(messages[1]);
});

test('a machine that has a network takes no foreign one by an edit', async () => {
  const { kube } = harness;
  const ref = await machine(mallory, 'editor', 'tenant-a', 'control-net', '10.10.0.67/24');
  const before = await kube.get(KubeVirtMachine, ref);
  expect(before).toBeDefined();
  await mallory.patch(VirtualMachine, ref, { spec: { interfaces: [{ network: 'ws-victim/control-net' }] } });
  await harness.changed(VirtualMachine, ref);
  expect((await kube.get(KubeVirtMachine, ref))?.spec).toEqual(before?.spec);
});

test('an author takes the address of a machine of another namespace on a network that the policy opens', async () => {
  const { kube } = harness;
  const victim = await machine(kube, 'router', 'ws-victim', 'control-net', '10.10.0.1/24');
  await setPolicy({ machineNetworks: 'ws-victim' });
  const ref = await machine(mallory, 'thief', 'tenant-a', 'ws-victim/control-net', '10.10.0.1/24');
  expect(await readyOf(ref)).toMatchObject({ reason: 'AddressInUse' });
  expect((await readyOf(ref))?.message).not.toContain('router');
  expect(await kube.get(KubeVirtMachine, ref)).toBeUndefined();
  expect((await readyOf(victim))?.reason).toBe('Starting');
  const beside = await machine(mallory, 'guest', 'tenant-a', 'ws-victim/control-net', '10.10.0.2/24');
  expect(await kube.get(KubeVirtMachine, beside)).toBeDefined();
});
