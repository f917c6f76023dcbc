import { expect, vi } from 'vitest';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { byName } from '../world.ts';
import {
  byHand,
  changeMachine,
  contentOf,
  createByHand,
  createMachine,
  createNetwork,
  createVolume,
  flavorsOf,
  isPhase,
  isReady,
  isWaitingFor,
  makeBootable,
  type OpenStackStory,
  polling,
  projectOf,
  remove,
  runningMachine,
  untilGone,
  untilMachine,
  untilSo,
} from './world.ts';

/** What goes wrong in OpenStack, or is done to it behind our back. */
export const stories = byName<OpenStackStory>({
  'a server that a user deletes comes back from the same volumes, and its restarts are counted on': {
    smoke: true,
    async run(world) {
      const before = await runningMachine(world);
      const project = await projectOf(world);
      await byHand(project, 'compute', 'POST', `/servers/${before.status?.id}/action`, {
        reboot: { type: 'HARD' },
      });
      await untilMachine(world, 'vm', (machine) => isReady(machine) && machine.status?.restartCount === 1);
      await byHand(project, 'compute', 'DELETE', `/servers/${before.status?.id}`);
      const after = await untilMachine(
        world,
        'vm',
        (machine) => isReady(machine) && machine.status?.id !== before.status?.id,
      );
      expect(after.status?.restartCount).toBe(1);
      expect((await contentOf(project)).volumes).toMatchObject([{ name: 'disk', status: 'in-use' }]);
    },
  },
  async 'a server in ERROR for longer than the policy allows is created again'(world) {
    const before = await runningMachine(world);
    const project = await projectOf(world);
    await byHand(project, 'compute', 'POST', `/servers/${before.status?.id}/action`, {
      'os-resetState': { state: 'error' },
    });
    await untilMachine(world, 'vm', isWaitingFor('ServerError'));
    const after = await untilMachine(
      world,
      'vm',
      (machine) => isReady(machine) && machine.status?.id !== before.status?.id,
    );
    expect(after.status).toMatchObject({ phase: 'Running' });
    expect(after.status?.failedSince).toBeUndefined();
  },
  async 'a volume that Cinder calls broken keeps what is in it, and returns as soon as an administrator resets it'(
    world,
  ) {
    await createVolume(world, 'disk');
    const before = await untilSo(world, Volume, 'disk', isPhase('Available'));
    const project = await projectOf(world);
    const set = (status: string) =>
      byHand(project, 'volume', 'POST', `/volumes/${before.status?.id}/action`, {
        'os-reset_status': { status },
      });
    await set('error');
    const { status } = await untilSo(world, Volume, 'disk', isWaitingFor('VolumeError'));
    expect(status).toMatchObject({ id: before.status?.id, phase: 'Failed' });
    await set('available');
    await untilSo(world, Volume, 'disk', isPhase('Available'));
    expect((await contentOf(project)).volumes.map(({ id }) => id)).toEqual([before.status?.id]);
  },
  async 'a boot that failed gives its volumes back, says why, and is tried again'(world) {
    await createVolume(world, 'disk');
    await createMachine(world, 'vm', { vcpu: 9999, diskAttachments: [{ name: 'disk' }] });
    await makeBootable(world, 'disk');
    const { status } = await untilMachine(world, 'vm', isWaitingFor('BootFailed'));
    expect(status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('No valid host') });
    await untilSo(world, Volume, 'disk', isPhase('Available'));
    await world.kube.patch(KupenStackMachine, { namespace: world.namespace, name: 'vm' }, { spec: { vcpu: 1 } });
    const healed = await untilMachine(world, 'vm', isReady);
    expect(healed.status?.attempts).toBeUndefined();
  },
  async 'a size that no host has: Nova takes the resize and gives it up, the machine reports it, and runs on; another size heals it'(
    world,
  ) {
    const before = await runningMachine(world);
    await changeMachine(world, 'vm', { vcpu: 9999 });
    const { status } = await untilMachine(world, 'vm', isWaitingFor('ResizeFailed'));
    expect(status).toMatchObject({ id: before.status?.id, phase: 'Running' });
    expect(status?.message).toContain('9999 vcpus');
    // It runs on with the size of before: of a flavor that is gone Nova may give the number to the next one.
    expect(await flavorsOf(await projectOf(world))).toContain('kup-1c-64m-0s');
    await changeMachine(world, 'vm', { vcpu: 2 });
    await untilMachine(world, 'vm', isReady);
    const { servers } = await contentOf(await projectOf(world));
    expect(servers).toMatchObject([{ id: before.status?.id, status: 'ACTIVE', flavor: { vcpus: 2 } }]);
  },
  async 'without a bootable disk Nova is not asked, and the machine reports it'(world) {
    await createVolume(world, 'data');
    await createMachine(world, 'vm', { diskAttachments: [{ name: 'data' }] });
    const { status } = await untilMachine(world, 'vm', isWaitingFor('NoBootableDisk'));
    expect(status).toMatchObject({ phase: 'Pending', message: expect.stringContaining('set it bootable') });
    expect((await contentOf(await projectOf(world))).servers).toEqual([]);
  },
  'names that stand for nothing are all said at once, and the machine heals as soon as they do': {
    isLong: true,
    async run(world) {
      await createMachine(world, 'vm', { virtualNetworks: ['net-a', 'net-b'], diskAttachments: [{ name: 'disk' }] });
      const { status } = await untilMachine(world, 'vm', isWaitingFor('NetworkMissing'));
      expect(status?.message).toBe('Waiting: there is no network net-a; there is no network net-b.');
      expect(status?.conditions).toEqual(
        expect.arrayContaining([expect.objectContaining({ type: 'VolumesReady', reason: 'VolumeMissing' })]),
      );
      await createNetwork(world, 'net-a');
      await createNetwork(world, 'net-b');
      await createVolume(world, 'disk');
      await makeBootable(world, 'disk');
      await untilMachine(world, 'vm', isReady);
    },
  },
  'networks and volumes of the project, which no object stands for, are found by their names and left alone': {
    isLong: true,
    async run(world) {
      await createNetwork(world, 'net');
      await untilSo(world, VirtualNetwork, 'net', isPhase('Available'));
      const project = await projectOf(world);
      const { project: of } = await project.login();
      const network = await createByHand(project, 'network', '/v2.0/networks', 'network', {
        name: 'by hand',
        project_id: of.id,
      });
      await byHand(project, 'network', 'POST', '/v2.0/subnets', {
        subnet: { network_id: network, cidr: '10.77.0.0/24', ip_version: 4 },
      });
      const disk = await createByHand(project, 'volume', '/volumes', 'volume', { name: 'disk by hand', size: 1 });
      await createMachine(world, 'vm', { virtualNetworks: ['by hand'], diskAttachments: [{ name: 'disk by hand' }] });
      await untilMachine(world, 'vm', isWaitingFor('NoBootableDisk'));
      await byHand(project, 'volume', 'POST', `/volumes/${disk}/action`, {
        'os-set_bootable': { bootable: true },
      });
      const { status } = await untilMachine(world, 'vm', isReady);
      expect(status?.ip).toMatch(/^by hand\(10\.77\.0\.\d+\)$/);
      await remove(world, KupenStackMachine, 'vm');
      const left = await contentOf(project);
      expect(left.volumes).toMatchObject([{ id: disk, status: 'available' }]);
      expect(left.networks.map(({ name }) => name).sort()).toEqual(['by hand', 'net']);
      await byHand(project, 'volume', 'DELETE', `/volumes/${disk}`);
      await byHand(project, 'network', 'DELETE', `/v2.0/networks/${network}`);
      // Cinder takes its time, and the story's end looks whether anything is left.
      await vi.waitFor(async () => {
        const { volumes, networks } = await contentOf(project);
        expect([volumes.length, networks.length]).toEqual([0, 1]);
      }, polling);
    },
  },
  async 'over quota in each of the three services: each is reported, and heals with another quota'(world) {
    await createVolume(world, 'disk');
    await createNetwork(world, 'net');
    await makeBootable(world, 'disk');
    const {
      project: { id },
    } = await (await projectOf(world)).login();
    const { admin } = world;
    const quota = async (networks: number, volumes: number, instances: number) => {
      await byHand(admin, 'network', 'PUT', `/v2.0/quotas/${id}`, { quota: { network: networks } });
      await byHand(admin, 'volume', 'PUT', `/os-quota-sets/${id}`, { quota_set: { volumes } });
      await byHand(admin, 'compute', 'PUT', `/os-quota-sets/${id}`, { quota_set: { instances } });
    };
    await quota(1, 1, 0);
    await createNetwork(world, 'second');
    await createVolume(world, 'second');
    await createMachine(world, 'vm', { virtualNetworks: ['net'], diskAttachments: [{ name: 'disk' }] });
    const isOver = isWaitingFor('QuotaExceeded');
    await untilSo(world, VirtualNetwork, 'second', isOver);
    await untilSo(world, Volume, 'second', isOver);
    const { status } = await untilMachine(world, 'vm', isOver);
    expect(status).toMatchObject({ phase: 'Pending', message: expect.stringContaining('uota') });
    await quota(10, 10, 10);
    await untilSo(world, VirtualNetwork, 'second', isPhase('Available'));
    await untilSo(world, Volume, 'second', isPhase('Available'));
    await untilMachine(world, 'vm', isReady);
  },
  'a network and a volume that a machine is on say who holds them until it goes': {
    isLong: true,
    async run(world) {
      await createNetwork(world, 'net');
      await runningMachine(world, { virtualNetworks: ['net'] });
      const { kube, namespace } = world;
      await kube.delete(VirtualNetwork, { namespace, name: 'net' });
      await kube.delete(Volume, { namespace, name: 'disk' });
      await untilSo(world, VirtualNetwork, 'net', isWaitingFor('InUse'));
      await untilSo(world, Volume, 'disk', isWaitingFor('InUse'));
      await remove(world, KupenStackMachine, 'vm');
      await untilGone(world, VirtualNetwork, 'net');
      await untilGone(world, Volume, 'disk');
    },
  },
  async 'a machine that is deleted while it is being made leaves nothing'(world) {
    await createNetwork(world, 'net');
    await createVolume(world, 'disk');
    await makeBootable(world, 'disk');
    await createMachine(world, 'vm', { virtualNetworks: ['net'], diskAttachments: [{ name: 'disk' }] });
    await untilMachine(world, 'vm', ({ metadata }) => (metadata.finalizers ?? []).length > 0);
    await remove(world, KupenStackMachine, 'vm');
    expect(await contentOf(await projectOf(world))).toMatchObject({ servers: [], ports: [], keyPairs: [] });
  },
  'twenty machines, five at a time': {
    isLong: true,
    async run(world) {
      await createNetwork(world, 'net', { cidr: '10.4.0.0/24' });
      const names = Array.from({ length: 20 }, (_, index) => `vm-${index}`);
      for (let first = 0; first < names.length; first += 5) {
        const five = names.slice(first, first + 5);
        await Promise.all(
          five.map(async (name) => {
            await createVolume(world, name);
            await makeBootable(world, name);
            await createMachine(world, name, { virtualNetworks: ['net'], diskAttachments: [{ name }] });
          }),
        );
        await Promise.all(five.map((name) => untilMachine(world, name, isReady)));
      }
      const { servers } = await contentOf(await projectOf(world));
      expect(servers.map(({ name }) => name).sort()).toEqual([...names].sort());
    },
  },
});
