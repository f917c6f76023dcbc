import { expect, vi } from 'vitest';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { Flavor, listFlavors } from '../../../shared/kinds/openstack/flavor.ts';
import { uidKey, uidTag } from '../../../shared/kinds/openstack/request.ts';
import type { Session } from '../../../shared/runtime/openstack/session.ts';
import { byName } from '../world.ts';
import {
  byHand,
  changeMachine,
  contentOf,
  createByHand,
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
  runningMachine,
  untilMachine,
  untilSo,
} from './world.ts';

/** What exists already, and its owner. */
export const stories = byName<OpenStackStory>({
  async 'a status that a user wipes or fills with garbage: the server is found by its tag, and stays'(world) {
    const { status } = await runningMachine(world);
    const { kube, namespace } = world;
    for (const garbage of [
      { id: null, phase: null, conditions: null, ip: null },
      { id: 'no-such-server', restartCount: 0 },
    ]) {
      await kube.patch(KupenStackMachine, { namespace, name: 'vm' }, { status: garbage }, { subresource: 'status' });
      const healed = await untilMachine(
        world,
        'vm',
        (machine) => isReady(machine) && machine.status?.id === status?.id,
      );
      expect(healed.status).toMatchObject({ phase: 'Running' });
    }
    expect((await contentOf(await projectOf(world))).servers).toHaveLength(1);
  },
  async 'of two servers with the uid of one machine neither is touched, both are named, until one goes'(world) {
    const { metadata, status } = await runningMachine(world);
    await createVolume(world, 'other');
    const volume = await makeBootable(world, 'other');
    const project = await projectOf(world);
    const {
      servers: [first],
    } = await contentOf(project);
    const server = await serverByHand(project, volume, 'kup-1c-64m-0s', {
      metadata: { [uidKey]: metadata.uid },
      tags: [uidTag(metadata.uid)],
    });
    const found = await untilMachine(world, 'vm', isWaitingFor('NotUnique'));
    expect(found.status?.message).toContain(String(first?.id));
    expect(found.status?.message).toContain(server);
    await untilIs('ACTIVE', project, 'servers', server);
    await byHand(project, 'compute', 'DELETE', `/servers/${server}`);
    await untilMachine(world, 'vm', (machine) => isReady(machine) && machine.status?.id === status?.id);
  },
  'a flavor that an unmanaged server still has stays until that is deleted': {
    isLong: true,
    async run(world) {
      await runningMachine(world, { vcpu: 11 });
      await createVolume(world, 'other');
      const volume = await makeBootable(world, 'other');
      const project = await projectOf(world);
      const server = await serverByHand(project, volume, 'kup-11c-64m-0s');
      await untilIs('ACTIVE', project, 'servers', server);
      await changeMachine(world, 'vm', { vcpu: 12 });
      await untilMachine(world, 'vm', isReady);
      expect(await flavorsOf(project)).toContain('kup-11c-64m-0s');
      await byHand(project, 'compute', 'DELETE', `/servers/${server}`);
      await untilSo(world, Volume, 'other', isPhase('Available'));
      await changeMachine(world, 'vm', { vcpu: 13 });
      await untilMachine(world, 'vm', isReady);
      const left = await flavorsOf(project);
      expect(left).toContain('kup-13c-64m-0s');
      expect(left).not.toContain('kup-11c-64m-0s');
    },
  },
  async 'of two volumes, and of two networks, with the uid of one object neither is touched, both are named, until one goes'(
    world,
  ) {
    await createNetwork(world, 'net');
    await createVolume(world, 'disk');
    const network = await untilSo(world, VirtualNetwork, 'net', isPhase('Available'));
    const volume = await untilSo(world, Volume, 'disk', isPhase('Available'));
    const project = await projectOf(world);
    const { project: of } = await project.login();
    const twinNetwork = await createByHand(project, 'network', '/v2.0/networks', 'network', {
      name: 'twin',
      project_id: of.id,
      description: uidTag(network.metadata.uid),
    });
    const twinVolume = await createByHand(project, 'volume', '/volumes', 'volume', {
      name: 'twin',
      size: 1,
      metadata: { [uidKey]: volume.metadata.uid },
    });
    const twins = [
      await untilSo(world, VirtualNetwork, 'net', isWaitingFor('NotUnique')),
      await untilSo(world, Volume, 'disk', isWaitingFor('NotUnique')),
    ];
    expect(twins.map(({ status }) => status?.message)).toEqual([
      describeTwins('network', network.status?.id, twinNetwork),
      describeTwins('volume', volume.status?.id, twinVolume),
    ]);
    const { networks, volumes } = await contentOf(project);
    expect([networks.length, volumes.length]).toEqual([2, 2]);
    await byHand(project, 'network', 'DELETE', `/v2.0/networks/${twinNetwork}`);
    await untilIs('available', project, 'volumes', twinVolume);
    await byHand(project, 'volume', 'DELETE', `/volumes/${twinVolume}`);
    const healed = [
      await untilSo(world, VirtualNetwork, 'net', isPhase('Available')),
      await untilSo(world, Volume, 'disk', isPhase('Available')),
    ];
    expect(healed.map(({ status }) => status?.id)).toEqual([network.status?.id, volume.status?.id]);
  },
});

/** A server that a person makes, on that volume and with the flavor of that name; its id. */
async function serverByHand(project: Session, volume: string, flavorName: string, more: object = {}) {
  const flavor = (await project.list(listFlavors(), 'flavors', Flavor)).find(({ name }) => name === flavorName);
  const disk = { uuid: volume, source_type: 'volume', destination_type: 'volume', boot_index: 0 };
  return createByHand(project, 'compute', '/servers', 'server', {
    name: 'twin',
    flavorRef: flavor?.id,
    networks: 'none',
    block_device_mapping_v2: [{ ...disk, delete_on_termination: false }],
    ...more,
  });
}

const describeTwins = (what: string, ...ids: (string | undefined)[]) =>
  `Expected one ${what} of this object in OpenStack, found ${ids.sort().join(', ')}: delete those that are not wanted.`;

/** Cinder deletes no volume that it is still making, and Nova may leave the volume of a server that it is still making attached to it permanently. */
const untilIs = (status: string, project: Session, kind: 'servers' | 'volumes', id: string) =>
  vi.waitFor(
    async () => expect((await contentOf(project))[kind]).toContainEqual(expect.objectContaining({ id, status })),
    polling,
  );
