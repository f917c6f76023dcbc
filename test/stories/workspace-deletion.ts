import { expect } from 'vitest';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { policyRef } from '../../shared/policy.ts';
import { putImage } from './images.ts';
import { createMachine, untilMachine } from './machines.ts';
import { untilCount } from './references.ts';
import {
  aCluster,
  aLab,
  aMachine,
  baseImage,
  createWorkspace,
  deleteWorkspace,
  inLab,
  labNamespace,
  readyWorkspace,
  untilComponent,
  untilSaid,
  untilWorkspace,
  workspaceStories,
} from './workspaces.ts';
import { createImage, until, untilGone, untilPhase, type World } from './world.ts';

/** Deletes the lab; nothing of it remains, in its namespace or beside it, nor the image that was made for it. */
async function deleteWhole(world: World): Promise<void> {
  await deleteWorkspace(world, 'lab1');
  await untilGone(world, VMDiskImage, baseImage(world));
  await expectNothingLeft(world);
}

/** Nothing of the lab remains, in its namespace or beside it. */
async function expectNothingLeft({ kube }: World): Promise<void> {
  expect(await kube.get(Namespace, { name: labNamespace })).toBeUndefined();
  for (const kind of [Subnet, Vpc]) {
    const names = (await kube.list(kind)).map(({ metadata }) => metadata.name);
    expect(names.filter((name) => name.includes('lab1'))).toEqual([]);
  }
  expect(await kube.list(VirtualMachine, { namespace: labNamespace })).toEqual([]);
  expect(await kube.list(KubeVirtMachine, { namespace: labNamespace })).toEqual([]);
  expect(await kube.list(Deployment, { namespace: labNamespace })).toEqual([]);
}

export const stories = workspaceStories({
  async 'a workspace deleted while its image downloads leaves nothing, and stops the download'(world) {
    world.store.limitTo(32 * 1024);
    await putImage(world, 'base');
    await createWorkspace(world, 'lab1', aLab(world));
    await untilPhase(world, 'base', 'Syncing');
    await deleteWhole(world);
  },
  async 'a workspace deleted as soon as it is created leaves nothing'(world) {
    await putImage(world, 'base');
    await createWorkspace(world, 'lab1', aLab(world));
    await deleteWhole(world);
  },
  'a workspace deleted while its machine starts leaves nothing': {
    simulators: { kubevirt: { faults: [{ match: 'vm', mode: 'unschedulable', forMs: 600_000 }] } },
    run: async (world) => {
      await putImage(world, 'base');
      await createWorkspace(world, 'lab1', aLab(world));
      await untilComponent(world, 'lab1', ['VirtualMachine', 'vm'], 'Provisioning');
      await deleteWhole(world);
    },
  },
  'a Ready workspace deleted leaves nothing, and takes the image that was made for it along': {
    provesPermissions: {},
    smoke: true,
    run: async (world) => {
      await putImage(world, 'base');
      await readyWorkspace(world, 'lab1', aLab(world));
      await deleteWhole(world);
    },
  },
  'a workspace deleted and created again within workspaceImagesKeptFor downloads nothing': {
    quick: true,
    smoke: true,
    policy: { workspaceImagesKeptFor: '1h' },
    run: async (world) => {
      const { kube, store } = world;
      await putImage(world, 'base');
      await readyWorkspace(world, 'lab1', aLab(world));
      const before = [await kube.get(VMDiskImage, baseImage(world)), store.bytesSent('images/base.qcow2')] as const;
      await deleteWorkspace(world, 'lab1');
      const isUnused = (found: VMDiskImage | undefined) => found?.status?.unreferencedSince !== undefined;
      await until(world, VMDiskImage, baseImage(world), isUnused);
      await readyWorkspace(world, 'lab1', aLab(world));
      const after = [await kube.get(VMDiskImage, baseImage(world)), store.bytesSent('images/base.qcow2')] as const;
      expect([after[0]?.metadata.uid, after[1]]).toEqual([before[0]?.metadata.uid, before[1]]);
      await kube.patch(ConfigMap, policyRef, { data: { workspaceImagesKeptFor: '0s' } });
      await deleteWorkspace(world, 'lab1');
      await untilGone(world, VMDiskImage, baseImage(world));
    },
  },
  'a Failed workspace deleted leaves nothing': {
    policy: { retryLimit: '0' },
    run: async (world) => {
      await createWorkspace(world, 'lab1', aLab(world));
      await untilWorkspace(world, 'lab1', 'Failed');
      await deleteWhole(world);
    },
  },
  async 'an image that a machine outside still uses stays until that goes, too'(world) {
    const { kube } = world;
    await putImage(world, 'base');
    await readyWorkspace(world, 'lab1', { vms: [aMachine(world, 'vm', 'base')] });
    await createMachine(world, 'outside', 'base');
    await untilMachine(world, 'outside', 'Ready');
    await deleteWorkspace(world, 'lab1');
    expect((await untilPhase(world, 'base', 'Succeeded')).metadata.deletionTimestamp).toBeUndefined();
    await kube.delete(VirtualMachine, { namespace: world.namespace, name: 'outside' });
    await untilGone(world, VMDiskImage, baseImage(world));
  },
  'a workspace that waits counts as a reference: its image is not pruned, and no image that users created is deleted with it':
    {
      provesPermissions: {},
      policy: { prune: 'WhenUnreferenced', pruneAfter: '1h' },
      run: async (world) => {
        // An image is counted at its end, too: when another one is, the first is not read again until the lab exists.
        for (const name of ['base', 'second']) {
          await putImage(world, name);
          await createImage(world, name);
          await untilCount(world, name, 0);
        }
        const { vmDiskImageTemplate: _, ...missing } = aMachine(world, 'other', 'missing');
        await createWorkspace(world, 'lab1', { vms: [aMachine(world, 'vm', 'base'), missing] });
        const counts = (found: VMDiskImage | undefined) =>
          (found?.status?.references?.by ?? []).some((word) => word.includes('lab1'));
        await until(world, VMDiskImage, baseImage(world), counts);
        await deleteWorkspace(world, 'lab1');
        const left = await until(world, VMDiskImage, baseImage(world), (found) => !counts(found));
        expect(left?.metadata.deletionTimestamp).toBeUndefined();
      },
    },
  'a child that is not deleted is reported, with who holds it, and the workspace is deleted when that is released': {
    quick: true,
    run: async (world) => {
      const { kube } = world;
      await readyWorkspace(world, 'lab1', { containerClusters: [aCluster('app')] });
      const ref = inLab('app');
      await kube.patch(Deployment, ref, { metadata: { finalizers: ['example.com/held'] } });
      await kube.delete(Workspace, { name: 'lab1' });
      const held = await untilSaid(world, 'lab1', 'example.com/held');
      expect(held.metadata.deletionTimestamp).toBeDefined();
      await kube.patch(Deployment, ref, { metadata: { finalizers: null } });
      await untilGone(world, Workspace, { name: 'lab1' });
      await expectNothingLeft(world);
    },
  },
  async 'a workspace deleted and created again under its name is Ready again'(world) {
    await putImage(world, 'base');
    const first = await readyWorkspace(world, 'lab1', aLab(world));
    await deleteWorkspace(world, 'lab1');
    const second = await createWorkspace(world, 'lab1', aLab(world));
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    await untilWorkspace(world, 'lab1', 'Ready');
    await deleteWorkspace(world, 'lab1');
    await expectNothingLeft(world);
  },
});
