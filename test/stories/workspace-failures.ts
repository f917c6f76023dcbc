import { expect } from 'vitest';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { putImage, requestSync } from './images.ts';
import {
  aCluster,
  aMachine,
  changeWorkspace,
  componentOf,
  conditionIn,
  controlNet,
  createWorkspace,
  inLab,
  labNamespace,
  onControlNet,
  readyWorkspace,
  untilComponent,
  untilCondition,
  untilTrouble,
  untilWorkspace,
  workspaceStories,
} from './workspaces.ts';
import { untilGone } from './world.ts';

export const stories = workspaceStories({
  'an image that cannot be downloaded fails the workspace with its cause on top, and the workspace heals with it': {
    policy: { retryLimit: '0' },
    run: async (world) => {
      const { kube } = world;
      await createWorkspace(world, 'lab1', { vms: [aMachine(world, 'vm', 'base')] });
      const failed = await untilWorkspace(world, 'lab1', 'Failed');
      expect(componentOf(failed, 'VMDiskImage', 'base')?.phase).toBe('Failed');
      expect(failed.status?.message).toContain('base');
      expect(conditionIn(failed, 'VMDiskImagesReady')?.status).toBe('False');
      expect(conditionIn(failed, 'Ready')?.status).toBe('False');
      expect(await kube.list(VirtualMachine, { namespace: labNamespace })).toEqual([]);
      await putImage(world, 'base');
      await requestSync(world, 'base', new Date().toISOString());
      await untilWorkspace(world, 'lab1', 'Ready');
    },
  },
  'a machine that fails fails the workspace, and the workspace heals with it': {
    policy: { machineUnschedulableAfter: '0s' },
    simulators: { kubevirt: { faults: [{ match: 'vm', mode: 'unschedulable', forMs: 3000 }] } },
    run: async (world) => {
      await putImage(world, 'base');
      await createWorkspace(world, 'lab1', { vms: [aMachine(world, 'vm', 'base')] });
      const failed = await untilWorkspace(world, 'lab1', 'Failed');
      expect(componentOf(failed, 'VirtualMachine', 'vm')).toMatchObject({ phase: 'Failed', reason: 'Unschedulable' });
      expect(failed.status?.message).toContain('vm');
      await untilWorkspace(world, 'lab1', 'Ready');
    },
  },
  'a container whose image is missing: the workspace reports it in the words of its Pod, and heals with another image':
    {
      local: { workloads: { faults: [{ match: 'not-there', mode: 'imagePull' }] } },
      run: async (world) => {
        const broken = aCluster('app', {}, { image: 'localhost/not-there:1' });
        await createWorkspace(world, 'lab1', { containerClusters: [broken] });
        const troubled = await untilTrouble(
          world,
          'lab1',
          ['ContainerCluster', 'app'],
          ['ErrImagePull', 'ImagePullBackOff'],
        );
        expect(troubled.status?.message).toContain('app');
        await changeWorkspace(world, 'lab1', { containerClusters: [aCluster('app')] });
        await untilWorkspace(world, 'lab1', 'Ready');
      },
    },
  'a container that ends again and again is no Ready workspace until it has run for a while': {
    localOnly: 'a simulated container ends on demand',
    policy: { machineFailedAfter: '2s' },
    local: { workloads: { faults: [{ match: 'app', mode: 'exits', exitCode: 1, times: 4 }] } },
    run: async (world) => {
      await createWorkspace(world, 'lab1', { containerClusters: [aCluster('app')] });
      await untilTrouble(world, 'lab1', ['ContainerCluster', 'app'], ['CrashLoopBackOff']);
      await untilWorkspace(world, 'lab1', 'Ready');
    },
  },
  'a volume whose driver does not create it at first: the workspace waits for it, reports it, and heals with it': {
    simulators: { cdi: { faults: [{ match: 'config', mode: 'provisionError', times: 1 }] } },
    run: async (world) => {
      const mounting = aCluster('app', {}, { volumeMounts: [{ name: 'config', containerPath: '/config' }] });
      await createWorkspace(world, 'lab1', {
        volumes: [{ name: 'config', size: '1Gi' }],
        containerClusters: [mounting],
      });
      await untilComponent(world, 'lab1', ['Volume', 'config'], 'Provisioning', 'ClaimPending');
      const lab = await untilWorkspace(world, 'lab1', 'Ready');
      expect(componentOf(lab, 'Volume', 'config')).toMatchObject({ phase: 'Ready', reason: 'Bound' });
    },
  },
  'a network that kube-ovn refuses, in its words; the workspace heals when it takes it': {
    simulators: { kubeOvn: { faults: [{ match: 'control-net', mode: 'refused', times: 1 }] } },
    run: async (world) => {
      await readyWorkspace(world, 'lab1', { networks: [controlNet], containerClusters: [aCluster('app')] });
    },
  },
  'a network that kube-ovn sets up late: the workspace waits for it, and continues as soon as it exists': {
    provesPermissions: { of: ['source-kube-ovn'] },
    simulators: { kubeOvn: { faults: [{ match: 'control-net', mode: 'controllerDown', forMs: 3000 }] } },
    run: async (world) => {
      await createWorkspace(world, 'lab1', { networks: [controlNet], containerClusters: [aCluster('app')] });
      await untilCondition(world, 'lab1', 'NetworksReady', 'SubnetNotReady');
      await untilWorkspace(world, 'lab1', 'Ready');
    },
  },
  async "a foreign Namespace of the workspace's name is left alone, and the workspace says who is in the way"(world) {
    const { kube } = world;
    await kube.create(Namespace, { metadata: { name: labNamespace } });
    await createWorkspace(world, 'lab1', { containerClusters: [aCluster('app')] });
    const failed = await untilWorkspace(world, 'lab1', 'Failed');
    expect(failed.status?.message).toContain(labNamespace);
    expect(await kube.list(Deployment, { namespace: labNamespace })).toEqual([]);
    await kube.delete(Workspace, { name: 'lab1' });
    await untilGone(world, Workspace, { name: 'lab1' });
    expect(await kube.get(Namespace, { name: labNamespace })).toMatchObject({ metadata: { name: labNamespace } });
    await kube.delete(Namespace, { name: labNamespace });
    await untilGone(world, Namespace, { name: labNamespace });
  },
  async 'a network that is still in use is not taken away, and the workspace says by whom; it is deleted with its last member'(
    world,
  ) {
    await putImage(world, 'base');
    const vm = aMachine(world, 'vm', 'base', { interfaces: onControlNet('10.10.0.7/24') });
    await readyWorkspace(world, 'lab1', { networks: [controlNet], vms: [vm] });
    await changeWorkspace(world, 'lab1', { networks: [] });
    const refused = await untilCondition(world, 'lab1', 'SpecValid', 'SpecInvalid');
    expect(refused.status?.message).toContain(controlNet.name);
    expect(refused.status?.message).toContain('vms vm');
    const definition = inLab(controlNet.name);
    expect(await world.kube.get(NetworkAttachmentDefinition, definition)).toBeDefined();
    expect(await world.kube.get(VirtualMachine, inLab('vm'))).toBeDefined();
    await changeWorkspace(world, 'lab1', { networks: [], vms: [] });
    await untilGone(world, NetworkAttachmentDefinition, definition);
    await untilWorkspace(world, 'lab1', 'Ready');
  },
  async 'a spec with faults: all are reported together, nothing is begun, and a better spec heals it'(world) {
    const { kube } = world;
    await putImage(world, 'base');
    const spec = {
      networks: [controlNet],
      vms: [
        aMachine(world, 'vm', 'base', { interfaces: onControlNet('10.11.0.7/24') }),
        aMachine(world, 'other', 'base', { interfaces: [{ network: 'nowhere', ipAddress: '10.10.0.7/24' }] }),
      ],
      containerClusters: [aCluster('app', {}, { volumeMounts: [{ name: 'lost', containerPath: '/x' }] })],
    };
    await createWorkspace(world, 'lab1', spec);
    const failed = await untilWorkspace(world, 'lab1', 'Failed');
    const said = conditionIn(failed, 'SpecValid')?.message ?? '';
    for (const word of ['10.11.0.7', 'nowhere', 'lost']) expect(said).toContain(word);
    expect(await kube.get(Namespace, { name: labNamespace })).toBeUndefined();
    expect(await kube.list(VMDiskImage, { namespace: world.namespace })).toEqual([]);
    await changeWorkspace(world, 'lab1', { vms: [aMachine(world, 'vm', 'base')], containerClusters: [] });
    await untilWorkspace(world, 'lab1', 'Ready');
  },
});
