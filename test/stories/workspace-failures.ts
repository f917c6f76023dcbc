import { expect } from 'vitest';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { syncRequested, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { putImage } from './images.ts';
import {
  aCluster,
  aMachine,
  changeWorkspace,
  componentOf,
  conditionIn,
  controlNet,
  createWorkspace,
  deleteWorkspace,
  onControlNet,
  policyOf,
  readyWorkspace,
  untilComponent,
  untilCondition,
  untilTrouble,
  untilWorkspace,
  workloadImage,
} from './workspaces.ts';
import { byName, type Story, untilGone } from './world.ts';

export const stories = byName<Story>({
  'an image that cannot be downloaded fails the workspace with its cause on top, and the workspace heals with it': {
    policy: { ...policyOf, retryLimit: '0' },
    run: async (world) => {
      const { kube } = world;
      await createWorkspace(world, 'lab1', { vms: [aMachine(world, 'vm', 'base')] });
      const failed = await untilWorkspace(world, 'lab1', 'Failed');
      expect(componentOf(failed, 'VMDiskImage', 'base')?.phase).toBe('Failed');
      expect(failed.status?.message).toContain('base');
      expect(conditionIn(failed, 'VMDiskImagesReady')?.status).toBe('False');
      expect(conditionIn(failed, 'Ready')?.status).toBe('False');
      expect(await kube.list(VirtualMachine, { namespace: 'ws-lab1' })).toEqual([]);
      await putImage(world, 'base');
      const asked = { metadata: { annotations: { [syncRequested]: new Date().toISOString() } } };
      await kube.patch(VMDiskImage, { namespace: world.namespace, name: 'base' }, asked);
      await untilWorkspace(world, 'lab1', 'Ready');
      await deleteWorkspace(world, 'lab1');
    },
  },
  'a machine that fails fails the workspace, and the workspace heals with it': {
    policy: { ...policyOf, machineUnschedulableAfter: '0s' },
    simulators: { kubevirt: { faults: [{ match: 'vm', mode: 'unschedulable', forMs: 3000 }] } },
    run: async (world) => {
      await putImage(world, 'base');
      await createWorkspace(world, 'lab1', { vms: [aMachine(world, 'vm', 'base')] });
      const failed = await untilWorkspace(world, 'lab1', 'Failed');
      expect(componentOf(failed, 'VirtualMachine', 'vm')).toMatchObject({ phase: 'Failed', reason: 'Unschedulable' });
      expect(failed.status?.message).toContain('vm');
      await untilWorkspace(world, 'lab1', 'Ready');
      await deleteWorkspace(world, 'lab1');
    },
  },
  'a container whose image is missing: the workspace reports it in the words of its Pod, and heals with another image':
    {
      policy: policyOf,
      local: { workloads: { faults: [{ match: 'not-there', mode: 'imagePull' }] } },
      run: async (world) => {
        const broken = aCluster('app', { containers: [{ name: 'main', image: 'localhost/not-there:1' }] });
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
        await deleteWorkspace(world, 'lab1');
      },
    },
  'a container that ends again and again is no Ready workspace until it has run for a while': {
    localOnly: 'a simulated container ends on demand',
    policy: { ...policyOf, machineFailedAfter: '2s' },
    local: { workloads: { faults: [{ match: 'app', mode: 'exits', exitCode: 1, times: 4 }] } },
    run: async (world) => {
      await createWorkspace(world, 'lab1', { containerClusters: [aCluster('app')] });
      await untilTrouble(world, 'lab1', ['ContainerCluster', 'app'], ['CrashLoopBackOff']);
      await untilWorkspace(world, 'lab1', 'Ready');
      await deleteWorkspace(world, 'lab1');
    },
  },
  'a volume whose driver does not create it at first: the workspace waits for it, reports it, and heals with it': {
    policy: policyOf,
    simulators: { cdi: { faults: [{ match: 'config', mode: 'provisionError', times: 1 }] } },
    run: async (world) => {
      const mounting = aCluster('app', {
        containers: [
          { name: 'main', image: workloadImage, volumeMounts: [{ name: 'config', containerPath: '/config' }] },
        ],
      });
      await createWorkspace(world, 'lab1', {
        volumes: [{ name: 'config', size: '1Gi' }],
        containerClusters: [mounting],
      });
      await untilComponent(world, 'lab1', ['Volume', 'config'], 'Provisioning', 'ClaimPending');
      const lab = await untilWorkspace(world, 'lab1', 'Ready');
      expect(componentOf(lab, 'Volume', 'config')).toMatchObject({ phase: 'Ready', reason: 'Bound' });
      await deleteWorkspace(world, 'lab1');
    },
  },
  'a network that kube-ovn refuses, in its words; the workspace heals when it takes it': {
    policy: policyOf,
    simulators: { kubeOvn: { faults: [{ match: 'control-net', mode: 'refused', times: 1 }] } },
    run: async (world) => {
      await readyWorkspace(world, 'lab1', { networks: [controlNet], containerClusters: [aCluster('app')] });
      await deleteWorkspace(world, 'lab1');
    },
  },
  'a network that kube-ovn sets up late: the workspace waits for it, and continues as soon as it exists': {
    provesPermissions: { of: ['source-kube-ovn'] },
    policy: policyOf,
    simulators: { kubeOvn: { faults: [{ match: 'control-net', mode: 'controllerDown', forMs: 3000 }] } },
    run: async (world) => {
      await createWorkspace(world, 'lab1', { networks: [controlNet], containerClusters: [aCluster('app')] });
      await untilCondition(world, 'lab1', 'NetworksReady', 'SubnetNotReady');
      await untilWorkspace(world, 'lab1', 'Ready');
      await deleteWorkspace(world, 'lab1');
    },
  },
  "a foreign Namespace of the workspace's name is left alone, and the workspace says who is in the way": {
    policy: policyOf,
    run: async (world) => {
      const { kube } = world;
      await kube.create(Namespace, { metadata: { name: 'ws-lab1' } });
      await createWorkspace(world, 'lab1', { containerClusters: [aCluster('app')] });
      const failed = await untilWorkspace(world, 'lab1', 'Failed');
      expect(failed.status?.message).toContain('ws-lab1');
      expect(await kube.list(Deployment, { namespace: 'ws-lab1' })).toEqual([]);
      await deleteWorkspace(world, 'lab1');
      expect(await kube.get(Namespace, { name: 'ws-lab1' })).toMatchObject({ metadata: { name: 'ws-lab1' } });
      await kube.delete(Namespace, { name: 'ws-lab1' });
      await untilGone(world, Namespace, { name: 'ws-lab1' });
    },
  },
  'a network that is still in use is not taken away, and the workspace says by whom; it is deleted with its last member':
    {
      policy: policyOf,
      run: async (world) => {
        await putImage(world, 'base');
        const vm = aMachine(world, 'vm', 'base', { interfaces: onControlNet('10.10.0.7/24') });
        await readyWorkspace(world, 'lab1', { networks: [controlNet], vms: [vm] });
        await changeWorkspace(world, 'lab1', { networks: [] });
        const refused = await untilCondition(world, 'lab1', 'SpecValid', 'SpecInvalid');
        expect(refused.status?.message).toContain(controlNet.name);
        expect(refused.status?.message).toContain('vms vm');
        const definition = { namespace: 'ws-lab1', name: controlNet.name };
        expect(await world.kube.get(NetworkAttachmentDefinition, definition)).toBeDefined();
        expect(await world.kube.get(VirtualMachine, { namespace: 'ws-lab1', name: 'vm' })).toBeDefined();
        await changeWorkspace(world, 'lab1', { networks: [], vms: [] });
        await untilGone(world, NetworkAttachmentDefinition, definition);
        await untilWorkspace(world, 'lab1', 'Ready');
        await deleteWorkspace(world, 'lab1');
      },
    },
  'a spec with faults: all are reported together, nothing is begun, and a better spec heals it': {
    policy: policyOf,
    run: async (world) => {
      const { kube } = world;
      await putImage(world, 'base');
      const spec = {
        networks: [controlNet],
        vms: [
          aMachine(world, 'vm', 'base', { interfaces: onControlNet('10.11.0.7/24') }),
          aMachine(world, 'other', 'base', { interfaces: [{ network: 'nowhere', ipAddress: '10.10.0.7/24' }] }),
        ],
        containerClusters: [
          aCluster('app', {
            containers: [{ name: 'main', image: workloadImage, volumeMounts: [{ name: 'lost', containerPath: '/x' }] }],
          }),
        ],
      };
      await createWorkspace(world, 'lab1', spec);
      const failed = await untilWorkspace(world, 'lab1', 'Failed');
      const said = conditionIn(failed, 'SpecValid')?.message ?? '';
      for (const word of ['10.11.0.7', 'nowhere', 'lost']) expect(said).toContain(word);
      expect(await kube.get(Namespace, { name: 'ws-lab1' })).toBeUndefined();
      expect(await kube.list(VMDiskImage, { namespace: world.namespace })).toEqual([]);
      await changeWorkspace(world, 'lab1', { vms: [aMachine(world, 'vm', 'base')], containerClusters: [] });
      await untilWorkspace(world, 'lab1', 'Ready');
      await deleteWorkspace(world, 'lab1');
    },
  },
});
