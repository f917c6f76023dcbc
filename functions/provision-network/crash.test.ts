import { afterAll, expect, test } from 'vitest';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { listNetworks, listSubnets, Network, Subnet } from '../../shared/kinds/openstack/network.ts';
import { livesOf, type Stage } from '../../test/support/harness/openstack-crashes.ts';
import { anAccount, serveOnOpenStack, sessionOf } from '../../test/support/harness/openstack-harness.ts';
import declaration from './index.ts';

const harness = await serveOnOpenStack(declaration, { isQuick: true });
afterAll(harness.close);
const { kube, clock } = harness;
const account = await anAccount(harness.openStack, clock.now, 'lab');
await harness.namespace('lab', account);
const session = sessionOf(account, clock.now);

/** A network that is made, changed and deleted. */
function stagesOf(name: string): Stage[] {
  const ref = { namespace: 'lab', name };
  const found = () => kube.get(VirtualNetwork, ref);
  const content = async () => {
    const { project } = await session.login();
    const [networks, subnets] = await Promise.all([
      session.list(listNetworks(project.id), 'networks', Network),
      session.list(listSubnets(project.id), 'subnets', Subnet),
    ]);
    return {
      networks: networks.map(({ name, mtu }) => ({ name, mtu })),
      pools: subnets.map((one) => one.allocation_pools),
    };
  };
  const common = {
    look: (process: Parameters<Stage['look']>[0]) => process.changed(VirtualNetwork, ref),
    isOver: async () => {
      const network = await found();
      const isSaid = network?.status?.observedGeneration === network?.metadata.generation;
      return network === undefined || (isSaid && network.status?.phase === 'Available');
    },
    end: async () => ({ status: (await found())?.status, ...(await content()) }),
  };
  const { apiVersion, kind } = VirtualNetwork;
  const spec = { cidr: '10.7.0.0/24', mtu: 1400 };
  const change = { mtu: 1300, allocationPools: [{ startIP: '10.7.0.100' }] };
  return [
    { ...common, act: () => kube.create(VirtualNetwork, { apiVersion, kind, metadata: ref, spec }) },
    { ...common, act: () => kube.patch(VirtualNetwork, ref, { spec: change }) },
    { ...common, act: () => kube.delete(VirtualNetwork, ref), isOver: async () => (await found()) === undefined },
  ];
}

test('a crash after any write, and another process, come to the same end', async () => {
  const { whole, lives } = await livesOf(harness, stagesOf);
  expect(whole).toMatchObject([
    { networks: [{ mtu: 1400 }], pools: [[{ start: 'address', end: 'address' }]] },
    { networks: [{ mtu: 1300 }] },
    { networks: [], pools: [] },
  ]);
  expect(lives.length).toBeGreaterThanOrEqual(8);
  for (const { stage, write, ends } of lives)
    for (const [index, end] of ends.entries())
      if (end) expect({ stage, write, index, end }).toEqual({ stage, write, index, end: whole?.[index] });
});
