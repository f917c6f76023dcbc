import { expect } from 'vitest';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { ObjectReference, Resource } from '../../shared/kinds/resource.ts';
import { subnetName } from '../../shared/workspaces/workspace.ts';
import { putImage } from './images.ts';
import {
  aCluster,
  aMachine,
  controlNet,
  createWorkspace,
  deleteWorkspace,
  inLab,
  labNamespace,
  onControlNet,
  policyOf,
  readyWorkspace,
  type Spec,
  untilCondition,
  untilTrouble,
  workloadImage,
  workspaceStories,
} from './workspaces.ts';
import { type Story, until, untilGone, type World } from './world.ts';

const holder = 'example.com/held';

const whole = (world: World): Spec => ({
  networks: [controlNet],
  volumes: [{ name: 'config', size: '1Gi' }],
  vms: [aMachine(world, 'vm', 'base', { interfaces: onControlNet('10.10.0.161/24') })],
  containerClusters: [aCluster('app')],
});

/** The lab is being deleted and says, in words a person can act on, who holds what. */
async function untilHeld({ kube }: World, ...words: readonly string[]): Promise<Workspace> {
  const isSaid = (found: Workspace | undefined) =>
    found?.metadata.deletionTimestamp !== undefined &&
    words.every((word) => found.status?.message?.includes(word) === true);
  return (await until({ kube }, Workspace, { name: 'lab1' }, isSaid)) as Workspace;
}

/** A Ready lab is deleted while a finalizer holds one of its children: the lab reports it, and is deleted when that is removed. */
const held = (kind: string, resource: Resource, ref: ObjectReference): Story => ({
  name: `a ${kind} that is held when its workspace is deleted: the workspace says which and who, and is deleted when it is released`,
  policy: policyOf,
  run: async (world) => {
    const { kube } = world;
    await putImage(world, 'base');
    await readyWorkspace(world, 'lab1', whole(world));
    const before = (await kube.get(resource, ref))?.metadata.finalizers ?? [];
    await kube.patch(resource, ref, { metadata: { finalizers: [...before, holder] } });
    await kube.delete(Workspace, { name: 'lab1' });
    const lab = await untilHeld(world, holder, ref.name);
    expect(lab.status?.components).toContainEqual(expect.objectContaining({ phase: 'Terminating' }));
    // No write may restore what another removes at that moment.
    await until(world, resource, ref, (found) => found?.metadata.finalizers?.join() === holder);
    await kube.patch(resource, ref, { metadata: { finalizers: null } });
    await untilGone(world, Workspace, { name: 'lab1' });
    expect(await kube.get(Namespace, { name: labNamespace })).toBeUndefined();
    expect(await kube.get(Vpc, { name: labNamespace })).toBeUndefined();
  },
});

export const stories: readonly Story[] = [
  held('container cluster', Deployment, inLab('app')),
  held('machine', VirtualMachine, inLab('vm')),
  held('volume', PersistentVolumeClaim, inLab('config')),
  held('definition of a network', NetworkAttachmentDefinition, inLab(controlNet.name)),
  held('Subnet', Subnet, { name: subnetName('lab1', controlNet.name) }),
  held('Vpc', Vpc, { name: labNamespace }),
  ...workspaceStories({
    async 'a foreign object that holds the namespace of a deleted workspace: the workspace says which, and is deleted when it is released'(
      world,
    ) {
      const { kube } = world;
      await readyWorkspace(world, 'lab1', { containerClusters: [aCluster('app')] });
      const notes = inLab('notes');
      await kube.create(ConfigMap, { metadata: { ...notes, finalizers: [holder] } } as never);
      await kube.delete(Workspace, { name: 'lab1' });
      await untilHeld(world, labNamespace, holder);
      await kube.patch(ConfigMap, notes, { metadata: { finalizers: null } });
      await untilGone(world, Workspace, { name: 'lab1' });
      expect(await kube.get(Namespace, { name: labNamespace })).toBeUndefined();
    },
    'a workspace deleted while its network is being set up leaves nothing': {
      simulators: { kubeOvn: { faults: [{ match: 'control-net', mode: 'refused' }] } },
      run: async (world) => {
        const { kube } = world;
        await createWorkspace(world, 'lab1', { networks: [controlNet], containerClusters: [aCluster('app')] });
        await untilTrouble(world, 'lab1', ['Network', controlNet.name], ['ValidateLogicalSwitchFailed']);
        await deleteWorkspace(world, 'lab1');
        expect(await kube.get(Vpc, { name: labNamespace })).toBeUndefined();
        expect((await kube.list(Subnet)).filter(({ metadata }) => metadata.name.startsWith(labNamespace))).toEqual([]);
      },
    },
    'a workspace deleted while its containers start leaves nothing': {
      local: { workloads: { faults: [{ match: 'not-there', mode: 'imagePull' }] } },
      run: async (world) => {
        const starting = aCluster('app', {}, { image: 'localhost/not-there:1' });
        await createWorkspace(world, 'lab1', { containerClusters: [starting] });
        await untilTrouble(world, 'lab1', ['ContainerCluster', 'app'], ['ErrImagePull', 'ImagePullBackOff']);
        await deleteWorkspace(world, 'lab1');
      },
    },
    'a workspace deleted while its deploy roles run leaves nothing': {
      policy: { ansibleRunnerImage: workloadImage },
      local: { workloads: { faults: [{ match: 'vm-roles', mode: 'hangs' }] } },
      run: async (world) => {
        await putImage(world, 'base');
        const ansible = { roles: { deploy: [{ role: 'endlessRouter' }] } };
        const interfaces = onControlNet('10.10.0.161/24');
        await createWorkspace(world, 'lab1', {
          networks: [controlNet],
          vms: [aMachine(world, 'vm', 'base', { interfaces, ansible })],
        });
        await untilCondition(world, 'lab1', 'AnsibleDeployed', 'RolesRunning');
        await deleteWorkspace(world, 'lab1');
      },
    },
  }),
];
