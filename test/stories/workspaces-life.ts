import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Service } from '../../shared/kinds/core/service.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { NetworkPolicy } from '../../shared/kinds/networking/network-policy.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { putImage } from './images.ts';
import {
  aCluster,
  aLab,
  aMachine,
  baseImage,
  changeWorkspace,
  componentOf,
  conditionIn,
  controlNet,
  createWorkspace,
  deleteWorkspace,
  inLab,
  labNamespace,
  listening,
  onControlNet,
  readyWorkspace,
  untilComponent,
  untilCondition,
  untilSaid,
  untilWorkspace,
  workspaceStories,
} from './workspaces.ts';
import { comesBack, createImage, setPolicy, until, untilGone, untilPhase } from './world.ts';

/** The users' own lab; its containers ask for less cpu, of which one small node has no more to spare. */
async function example(): Promise<Workspace> {
  const lab = Workspace.parse(parse(await readFile('crds/examples/workspace.yaml', 'utf8')));
  const containers = (lab.spec.containerClusters ?? []).flatMap((cluster) => cluster.containers);
  for (const { resources } of containers) if (resources) resources.cpu = '10m';
  return lab;
}

export const stories = workspaceStories({
  "the users' own workspace: each of its parts gets Ready, and the workspace with the last of them": {
    smoke: true,
    run: async (world) => {
      const { kube, store } = world;
      await putImage(world, 'demo-vmdi');
      await setPolicy(world, {
        imageUrlTemplate: `${store.url}/images/{name}.qcow2`,
        imageStorageClass: 'gp3',
        imageSnapshotClass: 'ebs-snapshot',
        imageSecretRef: 's3-reader',
        imageDiskSize: '64Mi',
        ignoreOnDeploy: 'Start',
      });
      const { metadata, spec } = await example();
      const lab = await readyWorkspace(world, metadata.name, spec, 120_000);
      // Nothing here runs Ansible.
      const others = lab.status?.components?.filter(({ phase }) => phase !== 'Ready');
      expect(others).toMatchObject([{ kind: 'AnsibleRoles', name: 'demo-vm', phase: 'Skipped' }]);
      const of = (kind: string) => lab.status?.components?.filter((component) => component.kind === kind).length;
      expect([of('VMDiskImage'), of('Network'), of('Volume'), of('VirtualMachine'), of('ContainerCluster')]).toEqual([
        1, 6, 2, 1, 2,
      ]);
      const [ready, all] = (lab.status?.ready ?? '').split('/');
      expect(ready).toBe(all);
      expect(conditionIn(lab, 'AnsibleSkipped')?.status).toBe('True');
      const machine = await kube.get(VirtualMachine, { namespace: `ws-${metadata.name}`, name: 'demo-vm' });
      expect(machine?.status?.phase).toBe('Ready');
      await deleteWorkspace(world, metadata.name);
    },
  },
  'from apply to Ready: machine, container and network of a workspace, with one status': {
    quick: true,
    run: async (world) => {
      const { kube } = world;
      await putImage(world, 'base');
      const lab = await readyWorkspace(world, 'lab1', aLab(world));
      for (const type of ['SpecValid', 'VMDiskImagesReady', 'NetworksReady', 'VirtualMachinesReady', 'Ready'] as const)
        expect(conditionIn(lab, type), type).toMatchObject({ status: 'True' });
      expect(lab.status?.readyAt).toEqual(expect.any(String));
      expect(lab.metadata.finalizers).toHaveLength(1);
      const policies = await kube.list(NetworkPolicy, { namespace: labNamespace });
      expect(policies).toHaveLength(1);
      const image = await untilPhase(world, 'base', 'Succeeded');
      expect(image.status?.references?.count).toBeGreaterThan(0);
    },
  },
  'an image that is still syncing at apply: nothing of the workspace is begun before it exists': {
    provesPermissions: {},
    run: async (world) => {
      const { kube, store } = world;
      store.limitTo(64 * 1024);
      await putImage(world, 'base');
      await createImage(world, 'base');
      await untilPhase(world, 'base', 'Syncing');
      await createWorkspace(world, 'lab1', { networks: [controlNet], vms: [aMachine(world, 'vm', 'base')] });
      await untilComponent(world, 'lab1', ['VMDiskImage', 'base'], 'Provisioning');
      const waiting = await untilSaid(world, 'lab1', 'base');
      expect(waiting.status?.phase).toBe('Provisioning');
      expect(await kube.list(VirtualMachine, { namespace: labNamespace })).toEqual([]);
      expect(await kube.list(NetworkAttachmentDefinition, { namespace: labNamespace })).toEqual([]);
      store.limitTo(undefined);
      await untilWorkspace(world, 'lab1', 'Ready');
      const image = await kube.get(VMDiskImage, baseImage(world));
      const machine = await kube.get(VirtualMachine, inLab('vm'));
      expect(Date.parse(machine?.metadata.creationTimestamp ?? '')).toBeGreaterThanOrEqual(
        Math.floor(Date.parse(image?.status?.completedAt ?? '') / 1000) * 1000,
      );
    },
  },
  async 'an image that cannot be created: the workspace says which is missing, and continues as soon as a user creates it'(
    world,
  ) {
    const { vmDiskImageTemplate: _, ...machine } = aMachine(world, 'vm', 'base');
    await createWorkspace(world, 'lab1', { vms: [machine] });
    await untilCondition(world, 'lab1', 'VMDiskImagesReady', 'ImageMissing');
    expect((await untilSaid(world, 'lab1', 'base')).status?.phase).toBe('Provisioning');
    await putImage(world, 'base');
    await createImage(world, 'base');
    await untilWorkspace(world, 'lab1', 'Ready');
    await deleteWorkspace(world, 'lab1');
    // People made it: it stays.
    expect(await world.kube.get(VMDiskImage, baseImage(world))).toBeDefined();
  },
  async 'two copies of one workspace side by side: the same addresses, the same image, nothing of the other'(world) {
    const { kube } = world;
    await putImage(world, 'base');
    await createWorkspace(world, 'lab1', aLab(world));
    await createWorkspace(world, 'lab2', aLab(world));
    await untilWorkspace(world, 'lab1', 'Ready');
    await untilWorkspace(world, 'lab2', 'Ready');
    expect(await kube.list(VMDiskImage)).toHaveLength(1);
    await deleteWorkspace(world, 'lab1');
    const left = await kube.get(Workspace, { name: 'lab2' });
    expect(left?.status?.phase).toBe('Ready');
    expect(await kube.get(VMDiskImage, baseImage(world))).toBeDefined();
    await deleteWorkspace(world, 'lab2');
    // Made for workspaces, and of the last one.
    await untilGone(world, VMDiskImage, baseImage(world));
  },
  async 'whatever is deleted comes back'(world) {
    await putImage(world, 'base');
    const app = aCluster('app', {}, listening);
    await createWorkspace(world, 'lab1', {
      networks: [controlNet],
      volumes: [{ name: 'config', size: '1Gi' }],
      vms: [aMachine(world, 'vm', 'base', { interfaces: onControlNet('10.10.0.161/24') })],
      containerClusters: [app],
    });
    await untilComponent(world, 'lab1', ['VirtualMachine', 'vm'], 'Ready');
    await comesBack(world, Deployment, inLab('app'));
    await comesBack(world, Service, inLab('app'));
    await comesBack(world, VirtualMachine, inLab('vm'));
    await comesBack(world, PersistentVolumeClaim, inLab('config'));
    const [policy] = await world.kube.list(NetworkPolicy, { namespace: labNamespace });
    await comesBack(world, NetworkPolicy, inLab(policy?.metadata.name ?? ''));
    await untilComponent(world, 'lab1', ['VirtualMachine', 'vm'], 'Ready');
    await untilComponent(world, 'lab1', ['ContainerCluster', 'app'], 'Ready');
    await deleteWorkspace(world, 'lab1');
  },
  'whatever is edited is as the workspace says again': {
    provesPermissions: {},
    run: async (world) => {
      const { kube } = world;
      await putImage(world, 'base');
      await readyWorkspace(world, 'lab1', {
        networks: [controlNet],
        vms: [aMachine(world, 'vm', 'base')],
        containerClusters: [aCluster('app')],
      });
      await kube.patch(Deployment, inLab('app'), { spec: { replicas: 0 } });
      const isOne = (found: Deployment | undefined) => found?.spec?.replicas === 1;
      await until(world, Deployment, inLab('app'), isOne);
      await kube.patch(VirtualMachine, inLab('vm'), { spec: { resources: { memory: '1Gi' } } });
      const [policy] = await kube.list(NetworkPolicy, { namespace: labNamespace });
      const ref = inLab(policy?.metadata.name ?? '');
      await kube.patch(NetworkPolicy, ref, { spec: { podSelector: { matchLabels: { never: 'here' } } } });
      const isWhole = (found: NetworkPolicy | undefined) => !JSON.stringify(found?.spec).includes('never');
      await until(world, NetworkPolicy, ref, isWhole);
      const is512 = (found: VirtualMachine | undefined) => found?.spec.resources?.memory === '512Mi';
      await until(world, VirtualMachine, inLab('vm'), is512);
      await untilWorkspace(world, 'lab1', 'Ready');
    },
  },
  'a changed workspace: parts are added, changed and taken away': {
    provesPermissions: {},
    run: async (world) => {
      const { kube } = world;
      await putImage(world, 'base');
      const vm = aMachine(world, 'vm', 'base');
      await readyWorkspace(world, 'lab1', { vms: [vm], containerClusters: [aCluster('app')] });
      const env = [{ name: 'DEBUG', value: 'true' }];
      const changed = aCluster('app', {}, { env });
      await changeWorkspace(world, 'lab1', {
        networks: [controlNet],
        vms: [vm, aMachine(world, 'second', 'base', { interfaces: onControlNet('10.10.0.7/24') })],
        containerClusters: [changed],
      });
      const grown = await untilWorkspace(world, 'lab1', 'Ready');
      expect(componentOf(grown, 'VirtualMachine', 'second')?.phase).toBe('Ready');
      const deployment = await kube.get(Deployment, inLab('app'));
      expect(JSON.stringify(deployment?.spec)).toContain('"DEBUG"');
      await changeWorkspace(world, 'lab1', { networks: [], vms: [vm], containerClusters: [] });
      await untilGone(world, VirtualMachine, inLab('second'));
      await untilGone(world, Deployment, inLab('app'));
      await untilGone(world, NetworkAttachmentDefinition, inLab(controlNet.name));
      const small = await untilWorkspace(world, 'lab1', 'Ready');
      expect(componentOf(small, 'VirtualMachine', 'vm')?.phase).toBe('Ready');
      expect(small.status?.components?.map(({ kind }) => kind)).not.toContain('Network');
      await deleteWorkspace(world, 'lab1');
      expect(await kube.list(Subnet)).toEqual([]);
      expect((await kube.list(Vpc)).filter(({ metadata }) => metadata.name.includes('lab1'))).toEqual([]);
    },
  },
  async 'what is to be ignored at deployment is halted, left out, or started, as the policy says'(world) {
    await putImage(world, 'base');
    await createWorkspace(world, 'lab1', {
      vms: [aMachine(world, 'vm', 'base', { ignoreOnDeploy: true })],
      containerClusters: [aCluster('app', { ignoreOnDeploy: true })],
    });
    const ref = inLab('app');
    const replicas = (found: Deployment | undefined) => found?.spec?.replicas;
    const halted = await untilWorkspace(world, 'lab1', 'Ready');
    expect(halted.status?.components?.some(({ reason, message }) => /halt/i.test(`${reason} ${message}`))).toBe(true);
    expect(replicas(await world.kube.get(Deployment, ref))).toBe(0);
    await setPolicy(world, { ignoreOnDeploy: 'Skip' });
    await untilComponent(world, 'lab1', ['VirtualMachine', 'vm'], 'Skipped');
    await untilGone(world, Deployment, ref);
    await untilGone(world, VirtualMachine, inLab('vm'));
    await setPolicy(world, { ignoreOnDeploy: 'Start' });
    await untilComponent(world, 'lab1', ['VirtualMachine', 'vm'], 'Ready');
    await untilComponent(world, 'lab1', ['ContainerCluster', 'app'], 'Ready');
    expect(replicas(await world.kube.get(Deployment, ref))).toBe(1);
  },
});
