import { expect } from 'vitest';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { untilEvent } from './events.ts';
import { putImage, requestSync } from './images.ts';
import {
  aCluster,
  aMachine,
  baseImage,
  conditionIn,
  createWorkspace,
  inLab,
  labNamespace,
  readyWorkspace,
  untilCondition,
  untilWorkspace,
  workspaceStories,
} from './workspaces.ts';
import { until, untilGone, type World } from './world.ts';

/** Resolves when an Event about that very workspace has that reason. */
const untilRecorded = ({ kube }: World, { metadata }: Workspace, reason: string) =>
  untilEvent({ kube, namespace: 'default' }, `involvedObject.uid=${metadata.uid},reason=${reason}`);

const isSucceeded = (image: VMDiskImage | undefined) => image?.status?.phase === 'Succeeded';

const annotate = ({ kube }: World, name: string, annotations: Record<string, string | null>) =>
  kube.patch(Workspace, { name }, { metadata: { annotations } });

export const stories = workspaceStories({
  async 'a workspace that hibernates: machines and containers stop, disks stay; woken, what ran runs again and what a user had stopped stays stopped'(
    world,
  ) {
    const { kube } = world;
    await putImage(world, 'base');
    await readyWorkspace(world, 'lab1', {
      vms: [aMachine(world, 'vm', 'base'), aMachine(world, 'stopped', 'base')],
      containerClusters: [aCluster('app')],
    });
    await kube.patch(KubeVirtMachine, inLab('stopped'), { spec: { runStrategy: 'Halted' } });
    const reasonOf = (machine: VirtualMachine | undefined) =>
      machine?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
    await until(world, VirtualMachine, inLab('stopped'), (found) => reasonOf(found) === 'Halted');
    const disk = (await kube.get(VirtualMachine, inLab('vm')))?.status?.rootDisk?.cloned;
    await annotate(world, 'lab1', { 'pelotech.ot/hibernate': 'true' });
    const asleep = await untilWorkspace(world, 'lab1', 'Hibernated');
    expect(conditionIn(asleep, 'Ready')).toMatchObject({ status: 'False', reason: 'Hibernated' });
    expect((await kube.get(KubeVirtMachine, inLab('vm')))?.spec?.runStrategy).toBe('Halted');
    expect((await kube.get(Deployment, inLab('app')))?.status?.replicas).toBe(0);
    await annotate(world, 'lab1', { 'pelotech.ot/hibernate': null });
    await untilWorkspace(world, 'lab1', 'Ready');
    expect((await kube.get(KubeVirtMachine, inLab('vm')))?.spec?.runStrategy).toBe('Always');
    expect((await kube.get(KubeVirtMachine, inLab('stopped')))?.spec?.runStrategy).toBe('Halted');
    expect((await kube.get(VirtualMachine, inLab('vm')))?.status?.rootDisk?.cloned).toBe(disk);
  },
  'a workspace that expires: warned of, put off by an extension, then deleted with everything in it': {
    smoke: true,
    provesPermissions: { byTimers: true },
    run: async (world) => {
      const { kube } = world;
      await putImage(world, 'base');
      const created = await createWorkspace(world, 'lab1', {
        vms: [aMachine(world, 'vm', 'base')],
        expiresAfter: '30s',
      });
      await annotate(world, 'lab1', { 'pelotech.ot/extend': '20s' });
      const ready = await untilWorkspace(world, 'lab1', 'Ready', 45_000);
      expect(conditionIn(ready, 'ExpiresSoon')).toMatchObject({ status: 'True' });
      const createdMs = Date.parse(created.metadata.creationTimestamp);
      expect(Date.parse(ready.status?.expiresAt ?? '') - createdMs).toBe(50_000);
      await untilGone(world, Workspace, { name: 'lab1' }, 120_000);
      expect(Date.now() - createdMs).toBeGreaterThanOrEqual(50_000);
      expect(await kube.get(Namespace, { name: labNamespace })).toBeUndefined();
      await untilGone(world, VMDiskImage, baseImage(world));
      await untilRecorded(world, created, 'ExpiresSoon');
      await untilRecorded(world, created, 'Expired');
    },
  },
  'a workspace that is booked: its images are there before its start, the rest is made then': {
    smoke: true,
    provesPermissions: { byTimers: true },
    run: async (world) => {
      const { kube } = world;
      await putImage(world, 'base');
      const startMs = Math.ceil(Date.now() / 1000) * 1000 + 30_000;
      await createWorkspace(world, 'lab1', {
        vms: [aMachine(world, 'vm', 'base')],
        schedule: { startAt: new Date(startMs).toISOString() },
      });
      const waiting = await untilWorkspace(world, 'lab1', 'Scheduled');
      expect(conditionIn(waiting, 'Ready')).toMatchObject({ status: 'False', reason: 'Scheduled' });
      await until(world, VMDiskImage, baseImage(world), isSucceeded);
      expect(await kube.get(Namespace, { name: labNamespace })).toBeUndefined();
      await untilWorkspace(world, 'lab1', 'Ready', 120_000);
      const namespace = await kube.get(Namespace, { name: labNamespace });
      expect(Date.parse(namespace?.metadata.creationTimestamp ?? '')).toBeGreaterThanOrEqual(startMs);
    },
  },
  async 'a workspace that is booked and whose image fails: it is reported to be late before its start, and on time once it is mended'(
    world,
  ) {
    const startAt = new Date(Date.now() + 1_800_000).toISOString();
    const created = await createWorkspace(world, 'lab1', {
      vms: [aMachine(world, 'vm', 'base')],
      schedule: { startAt },
    });
    const late = await untilCondition(world, 'lab1', 'WillBeLate', 'WillBeLate', 60_000);
    expect(conditionIn(late, 'WillBeLate')?.message).toContain('VMDiskImage base');
    await untilRecorded(world, created, 'WillBeLate');
    await putImage(world, 'base');
    await requestSync(world, 'base', 'now');
    await until(world, VMDiskImage, baseImage(world), isSucceeded);
    const mended = await untilCondition(world, 'lab1', 'WillBeLate', 'OnTime', 60_000);
    expect(mended.status?.phase).toBe('Scheduled');
  },
});
