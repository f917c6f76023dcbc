import { expect } from 'vitest';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { keyPairName } from '../../../shared/kinds/openstack/key-pair.ts';
import { byName } from '../world.ts';
import {
  changeMachine,
  contentOf,
  createMachine,
  createNetwork,
  createVolume,
  isPhase,
  isWaitingFor,
  makeBootable,
  type OpenStackStory,
  projectOf,
  remove,
  runningMachine,
  untilMachine,
  untilSo,
} from './world.ts';

/** A key that is one: the seed's own has dots where the rest of it should be. */
export const publicKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7M0wdB5QCr3u5YOEqTXJ7zOJWJ2G8o0mQXH8cLwPzN parth@kupenstack.io';

export const stories = byName<OpenStackStory>({
  async "the design's own example: three networks, three volumes, from apply to Running"(world) {
    for (const [name, cidr] of [
      ['net-db', '10.10.120.0/24'],
      ['net-backend', '10.10.150.0/24'],
      ['net-front-link', '10.10.90.0/24'],
    ] as const)
      await createNetwork(world, name, { cidr });
    for (const name of ['myvol', 'vol-db', 'vol-users-creds']) await createVolume(world, name);
    await createMachine(world, 'sample-vm', {
      running: true,
      vcpu: 3,
      memory: '500Mi',
      swap: '1Gi',
      publicKey,
      virtualNetworks: ['net-db', 'net-backend', 'net-front-link'],
      diskAttachments: [{ name: 'myvol' }, { name: 'vol-db' }, { name: 'vol-users-creds' }],
    });
    await untilMachine(world, 'sample-vm', isWaitingFor('NoBootableDisk'));
    await makeBootable(world, 'myvol');
    const { status } = await untilMachine(world, 'sample-vm', isPhase('Running'));
    expect(status).toMatchObject({ restartCount: 0, node: expect.stringMatching(/.+/) });
    expect(status?.ip).toMatch(
      /^net-db\(10\.10\.120\.\d+\), net-backend\(10\.10\.150\.\d+\), net-front-link\(10\.10\.90\.\d+\)$/,
    );
    const { servers, volumes } = await contentOf(await projectOf(world));
    expect(servers).toMatchObject([{ id: status?.id, name: 'sample-vm', flavor: { vcpus: 3, ram: 500, swap: 1024 } }]);
    expect(volumes.map(({ name, status: state }) => [name, state]).sort()).toEqual([
      ['myvol', 'in-use'],
      ['vol-db', 'in-use'],
      ['vol-users-creds', 'in-use'],
    ]);
  },
  async 'a machine that goes leaves its volumes and networks, and takes port, key and flavor along'(world) {
    await createNetwork(world, 'net');
    const { metadata } = await runningMachine(world, { publicKey, virtualNetworks: ['net'] });
    const project = await projectOf(world);
    // Key pairs are a user's: those of all namespaces are in one list.
    const ownKeys = async () =>
      (await contentOf(project)).keyPairs.filter(({ keypair }) => keypair.name === keyPairName(metadata.uid));
    expect(await ownKeys()).toHaveLength(1);
    await remove(world, KupenStackMachine, 'vm');
    expect(await ownKeys()).toEqual([]);
    const left = await contentOf(project);
    expect(left).toMatchObject({ servers: [], ports: [], volumes: [{ name: 'disk', status: 'available' }] });
    expect(left.networks).toHaveLength(1);
    expect(await untilSo(world, Volume, 'disk', isPhase('Available'))).toMatchObject({ status: { ready: true } });
    expect(await untilSo(world, VirtualNetwork, 'net', isPhase('Available'))).toMatchObject({
      status: { ready: true },
    });
  },
  async 'running stops and starts it, and each start counts'(world) {
    await runningMachine(world);
    await changeMachine(world, 'vm', { running: false });
    const stopped = await untilMachine(world, 'vm', isPhase('Stopped'));
    expect(stopped.status).toMatchObject({
      restartCount: 0,
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]),
    });
    await changeMachine(world, 'vm', { running: true });
    await untilMachine(world, 'vm', ({ status }) => status?.phase === 'Running' && status.restartCount === 1);
    await changeMachine(world, 'vm', { running: false });
    await untilMachine(world, 'vm', isPhase('Stopped'));
    await changeMachine(world, 'vm', { running: true });
    await untilMachine(world, 'vm', ({ status }) => status?.phase === 'Running' && status.restartCount === 2);
  },
});
