import { expect } from 'vitest';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { listSubnets, Subnet } from '../../../shared/kinds/openstack/network.ts';
import { byName } from '../world.ts';
import { leaveNothing } from './run.ts';
import {
  byHand,
  contentOf,
  createNetwork,
  isPhase,
  newNamespace,
  type OpenStackStory,
  projectOf,
  untilSo,
} from './world.ts';

/** Networks, said in full or not at all, and changed. */
export const stories = byName<OpenStackStory>({
  async 'gateway, pools and DHCP are as the spec says, and follow it'(world) {
    const { kube, namespace } = world;
    const ref = { namespace, name: 'net' };
    await createNetwork(world, 'net', {
      cidr: '10.5.0.0/24',
      gatewayIP: '10.5.0.254',
      allocationPools: [{ startIP: '10.5.0.100', endIP: '10.5.0.200' }],
    });
    const { status } = await untilSo(world, VirtualNetwork, 'net', isPhase('Available'));
    expect(status).toMatchObject({ ready: true, cidr: '10.5.0.0/24', gatewayIP: '10.5.0.254' });
    await expect(kube.patch(VirtualNetwork, ref, { spec: { cidr: '10.6.0.0/24' } })).rejects.toThrow(/cidr: immutable/);
    await expect(kube.patch(VirtualNetwork, ref, { spec: { gatewayIP: '10.6.0.1' } })).rejects.toThrow(
      /gatewayIP: expected an address in cidr/,
    );
    const changed = {
      gatewayIP: '10.5.0.1',
      allocationPools: [{ startIP: '10.5.0.10', endIP: '10.5.0.20' }],
      disableDhcp: true,
    };
    await kube.patch(VirtualNetwork, ref, { spec: changed });
    await untilSo(world, VirtualNetwork, 'net', (network) => network.status?.gatewayIP === '10.5.0.1');
    const project = await projectOf(world);
    const { project: of } = await project.login();
    expect(await project.list(listSubnets(of.id), 'subnets', Subnet)).toMatchObject([
      { gateway_ip: '10.5.0.1', enable_dhcp: false, allocation_pools: [{ start: '10.5.0.10', end: '10.5.0.20' }] },
    ]);
  },
  async 'without a cidr two networks of a project get addresses that do not overlap'(world) {
    for (const name of ['one', 'two']) await createNetwork(world, name);
    const [one, two] = await Promise.all(
      ['one', 'two'].map((name) => untilSo(world, VirtualNetwork, name, isPhase('Available'))),
    );
    expect(one?.status?.cidr).toMatch(/^10\.\d+\.\d+\.0\/24$/);
    expect(one?.status?.cidr).not.toBe(two?.status?.cidr);
  },
  async 'its MTU is as the spec says, and follows it'(world) {
    await createNetwork(world, 'net', { mtu: 1400 });
    await untilSo(world, VirtualNetwork, 'net', isPhase('Available'));
    const project = await projectOf(world);
    const mtus = async () => (await contentOf(project)).networks.map(({ mtu }) => mtu);
    expect(await mtus()).toEqual([1400]);
    await world.kube.patch(VirtualNetwork, { namespace: world.namespace, name: 'net' }, { spec: { mtu: 1300 } });
    await untilSo(
      world,
      VirtualNetwork,
      'net',
      (network) => isPhase('Available')(network) && network.status?.observedGeneration === network.metadata.generation,
    );
    expect(await mtus()).toEqual([1300]);
  },
  async 'two namespaces have networks with the same addresses, each in a project of its own'(world) {
    const other = { ...world, namespace: newNamespace() };
    await world.kube.create(Namespace, { metadata: { name: other.namespace } });
    const both = await Promise.all(
      [world, other].map(async (one) => {
        await createNetwork(one, 'net', { cidr: '10.5.0.0/24' });
        return untilSo(one, VirtualNetwork, 'net', isPhase('Available'));
      }),
    );
    expect(both.map(({ status }) => status?.cidr)).toEqual(['10.5.0.0/24', '10.5.0.0/24']);
    expect((await contentOf(await projectOf(world))).networks).toMatchObject([{ id: both[0]?.status?.id }]);
    expect((await contentOf(await projectOf(other))).networks).toMatchObject([{ id: both[1]?.status?.id }]);
    await leaveNothing(other);
  },
  async 'a network that a user deletes comes back at the next audit'(world) {
    await createNetwork(world, 'net', { cidr: '10.5.0.0/24' });
    const { status } = await untilSo(world, VirtualNetwork, 'net', isPhase('Available'));
    const project = await projectOf(world);
    await byHand(project, 'network', 'DELETE', `/v2.0/networks/${status?.id}`);
    await untilSo(
      world,
      VirtualNetwork,
      'net',
      (network) => isPhase('Available')(network) && network.status?.id !== status?.id,
    );
  },
});
