import { expect, test } from 'vitest';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { listNetworks, listSubnets, Network, Subnet } from '../../shared/kinds/openstack/network.ts';
import { livesOf, withOneAccount } from '../../test/support/harness/openstack-crashes.ts';
import declaration from './index.ts';

const { harness, session } = await withOneAccount(declaration);

test('a crash after any write, and another process, come to the same end', async () => {
  const { whole, lives } = await livesOf(harness, {
    resource: VirtualNetwork,
    spec: { cidr: '10.7.0.0/24', mtu: 1400 },
    changes: [{ mtu: 1300, allocationPools: [{ startIP: '10.7.0.100' }] }],
    isDone: ({ status }) => status?.phase === 'Available',
    content: async () => {
      const { project } = await session.login();
      const [networks, subnets] = await Promise.all([
        session.list(listNetworks(project.id), 'networks', Network),
        session.list(listSubnets(project.id), 'subnets', Subnet),
      ]);
      return {
        networks: networks.map(({ name, mtu }) => ({ name, mtu })),
        pools: subnets.map((one) => one.allocation_pools),
      };
    },
  });
  expect(whole).toMatchObject([
    { networks: [{ mtu: 1400 }], pools: [[{ start: 'address', end: 'address' }]] },
    { networks: [{ mtu: 1300 }] },
    { networks: [], pools: [] },
  ]);
  expect(lives).toBeGreaterThanOrEqual(8);
});
