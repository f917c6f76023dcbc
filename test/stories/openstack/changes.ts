import { expect, vi } from 'vitest';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { byName } from '../world.ts';
import {
  changeMachine,
  contentOf,
  createMachine,
  createNetwork,
  createVolume,
  flavorsOf,
  isPhase,
  isReady,
  isWaitingFor,
  makeBootable,
  type OpenStackStory,
  projectOf,
  remove,
  runningMachine,
  untilMachine,
  untilSo,
} from './world.ts';

/** What a person changes of a machine that runs. */
export const stories = byName<OpenStackStory>({
  async 'networks are attached and detached while it runs, and its addresses stand in the order of the spec'(world) {
    await createNetwork(world, 'net-a', { cidr: '10.1.1.0/24' });
    await createNetwork(world, 'net-b', { cidr: '10.1.2.0/24' });
    const before = await runningMachine(world, { virtualNetworks: ['net-a'] });
    expect(before.status?.ip).toMatch(/^net-a\(10\.1\.1\.\d+\)$/);
    await changeMachine(world, 'vm', { virtualNetworks: ['net-b', 'net-a'] });
    const both = await untilMachine(
      world,
      'vm',
      (machine) => isReady(machine) && (machine.status?.ip?.includes('net-b') ?? false),
    );
    expect(both.status?.ip).toMatch(/^net-b\(10\.1\.2\.\d+\), net-a\(10\.1\.1\.\d+\)$/);
    expect(both.status?.id).toBe(before.status?.id);
    await changeMachine(world, 'vm', { virtualNetworks: ['net-b'] });
    await untilMachine(world, 'vm', (machine) => isReady(machine) && !machine.status?.ip?.includes('net-a'));
    expect((await contentOf(await projectOf(world))).ports).toHaveLength(1);
  },
  'volumes are attached and detached while it runs': {
    provesPermissions: {},
    async run(world) {
      const { status } = await runningMachine(world);
      await createVolume(world, 'data');
      // Nothing but the machine's own events is a reason to look at it from now on.
      await untilSo(world, Volume, 'data', isPhase('Available'));
      await changeMachine(world, 'vm', { diskAttachments: [{ name: 'disk' }, { name: 'data' }] });
      await untilSo(world, Volume, 'data', isPhase('InUse'));
      const attached = await untilMachine(world, 'vm', isReady);
      expect(attached.status?.id).toBe(status?.id);
      await changeMachine(world, 'vm', { diskAttachments: [{ name: 'disk' }] });
      await untilMachine(world, 'vm', isReady);
      await untilSo(world, Volume, 'data', isPhase('Available'));
    },
  },
  'the disk it booted from stays with it, also if the spec no longer names it, and that is reported': {
    isLong: true,
    async run(world) {
      await runningMachine(world);
      await createVolume(world, 'data');
      await changeMachine(world, 'vm', { diskAttachments: [{ name: 'data' }] });
      const { status } = await untilMachine(world, 'vm', isWaitingFor('RootDiskKept'));
      expect(status).toMatchObject({ phase: 'Running', message: expect.stringContaining('make another machine') });
      await changeMachine(world, 'vm', { diskAttachments: [{ name: 'disk' }] });
      await untilMachine(world, 'vm', isReady);
    },
  },
  async 'vcpu, memory and swap change by resize, running or stopped, and the old flavor goes'(world) {
    const before = await runningMachine(world, { vcpu: 3, memory: '96Mi' });
    await changeMachine(world, 'vm', { vcpu: 5, memory: '127.5Mi', swap: '32Mi' });
    const bigger = await untilMachine(world, 'vm', isReady);
    expect(bigger.status).toMatchObject({ id: before.status?.id, phase: 'Running', restartCount: 0 });
    const project = await projectOf(world);
    expect((await contentOf(project)).servers).toMatchObject([{ flavor: { vcpus: 5, ram: 128, swap: 32 } }]);
    await changeMachine(world, 'vm', { running: false });
    await untilMachine(world, 'vm', isReady);
    await changeMachine(world, 'vm', { vcpu: 3, swap: 0 });
    const stopped = await untilMachine(world, 'vm', isReady);
    expect(stopped.status).toMatchObject({ id: before.status?.id, phase: 'Stopped' });
    // The status is written before the flavor is deleted, and OpenStack sends no event of that.
    await vi.waitFor(async () => expect(await flavorsOf(project)).not.toContain('kup-5c-128m-32s'), 10_000);
    const names = await flavorsOf(project);
    expect(names).toContain('kup-3c-128m-0s');
    expect(names).not.toContain('kup-3c-96m-0s');
  },
  'machines of one size share a flavor, which is deleted with the last of them': {
    isLong: true,
    async run(world) {
      const size = { vcpu: 7, memory: '77Mi' };
      await createVolume(world, 'disk');
      await createVolume(world, 'other');
      await createMachine(world, 'vm', { ...size, diskAttachments: [{ name: 'disk' }] });
      await createMachine(world, 'second', { ...size, diskAttachments: [{ name: 'other' }] });
      await makeBootable(world, 'disk');
      await makeBootable(world, 'other');
      await untilMachine(world, 'vm', isReady);
      await untilMachine(world, 'second', isReady);
      const project = await projectOf(world);
      const shared = async () => (await flavorsOf(project)).filter((name) => name === 'kup-7c-77m-0s').length;
      expect(await shared()).toBe(1);
      await remove(world, KupenStackMachine, 'vm');
      expect(await shared()).toBe(1);
      await remove(world, KupenStackMachine, 'second');
      expect(await shared()).toBe(0);
    },
  },
  'a volume grows, also while a machine has it, and cannot shrink': {
    simulatedOnly: 'the volume driver of the real services cannot extend: every one ends in error_extending',
    async run(world) {
      await runningMachine(world);
      await createVolume(world, 'data');
      const { namespace, kube } = world;
      await untilSo(world, Volume, 'data', isPhase('Available'));
      await kube.patch(Volume, { namespace, name: 'data' }, { spec: { size: '2Gi' } });
      await untilSo(world, Volume, 'data', ({ status }) => status?.size === '2Gi');
      await expect(kube.patch(Volume, { namespace, name: 'data' }, { spec: { size: '1Gi' } })).rejects.toThrow(
        /size: expected no less than before/,
      );
    },
  },
  'a machine made with running false is not booted until that changes': {
    isLong: true,
    async run(world) {
      await createVolume(world, 'disk');
      await createMachine(world, 'vm', { running: false, diskAttachments: [{ name: 'disk' }] });
      await makeBootable(world, 'disk');
      const { status } = await untilMachine(world, 'vm', isPhase('Stopped'));
      expect(status?.id).toBeUndefined();
      await changeMachine(world, 'vm', { running: true });
      await untilMachine(world, 'vm', isPhase('Running'));
    },
  },
  async 'a public key, a cidr and a source are immutable: the API server refuses a change'(world) {
    const { kube, namespace } = world;
    await createNetwork(world, 'net', { cidr: '10.3.0.0/24' });
    await createVolume(world, 'data', { source: { image: 'cirros' } });
    await createMachine(world, 'vm', { diskAttachments: [{ name: 'data' }], publicKey: 'ssh-rsa AAAA' });
    await expect(changeMachine(world, 'vm', { publicKey: 'ssh-rsa BBBB' })).rejects.toThrow(/publicKey: immutable/);
    await expect(changeMachine(world, 'vm', { publicKey: null })).rejects.toThrow(/publicKey: immutable/);
    await expect(
      kube.patch(Volume, { namespace, name: 'data' }, { spec: { source: { image: 'other' } } }),
    ).rejects.toThrow(/source: immutable/);
    // Its reconcile is done with the project by then.
    await untilSo(world, Volume, 'data', isWaitingFor('ImageMissing'));
  },
});
