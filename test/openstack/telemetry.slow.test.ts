import { expect, test } from 'vitest';
import { realClock } from '../../deploy/local/clock.ts';
import { giveAccount } from '../../deploy/local/openstack/account.ts';
import { startOpenStack } from '../../deploy/local/openstack/start-openstack.ts';
import { startLocal } from '../../deploy/local/start.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { createMachine, createNetwork, untilMachine, untilSo } from '../stories/openstack/world.ts';

test('calls to OpenStack, logins and machines by phase are in what Prometheus scrapes', async () => {
  const openStack = await startOpenStack({ clock: realClock });
  const cluster = await startLocal({ openStack: true, simulators: false, metricsPort: 0 });
  try {
    const { kube } = cluster;
    const world = { kube, namespace: 'default' } as Parameters<typeof createNetwork>[0];
    await giveAccount(kube, { authUrl: openStack.authUrl, ...openStack.admin });
    await createNetwork(world, 'net');
    await createMachine(world, 'vm', { diskAttachments: [{ name: 'none' }] });
    await untilSo(world, VirtualNetwork, 'net', ({ status }) => status?.phase === 'Available');
    await untilMachine(world, 'vm', ({ status }) => status?.phase === 'Pending');
    const text = await (await fetch(cluster.metricsUrl ?? '')).text();
    const points = (start: string) => text.split('\n').filter((line) => line.startsWith(start));
    expect(points('ot_servers{').find((line) => line.includes('phase="Pending"'))).toMatch(/ 1$/);
    expect(points('ot_openstack_tokens_total{')[0]).toContain('reason="first"');
    const calls = points('ot_openstack_call_duration_seconds_count{');
    for (const [service, operation, code] of [
      ['identity', 'logIn', 201],
      ['identity', 'createProject', 201],
      ['network', 'createNetwork', 201],
      ['compute', 'listServers', 200],
    ])
      expect(
        calls.some((line) =>
          [`service="${service}"`, `operation="${operation}"`, `code="${code}"`].every((label) => line.includes(label)),
        ),
      ).toBe(true);
    expect(text).not.toContain(openStack.admin.password);
  } finally {
    await cluster.close();
    await openStack.close();
  }
}, 60_000);
