import { expect, test } from 'vitest';
import { giveAccount } from '../../deploy/local/openstack/account.ts';
import { startLocal } from '../../deploy/local/start.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { leaveNothing, worldIn } from '../stories/openstack/run.ts';
import { schedules, services } from '../stories/openstack/services.ts';
import { createNetwork, isPhase, untilSo } from '../stories/openstack/world.ts';

test('tokens that are revoked in the middle are replaced, each once, and the work continues', async () => {
  const openStack = await services();
  const tokens: string[] = [];
  let refused = 0;
  const noting: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init);
    const token = answer.headers.get('x-subject-token');
    if (token) tokens.push(token);
    if (answer.status === 401) refused++;
    return answer;
  };
  const cluster = await startLocal({ openStack: true, simulators: false, schedules, fetchOpenStack: noting });
  try {
    const world = worldIn(cluster, openStack);
    await cluster.kube.create(Namespace, { metadata: { name: world.namespace } });
    await giveAccount(cluster.kube, openStack.login);
    await createNetwork(world, 'before');
    await untilSo(world, VirtualNetwork, 'before', isPhase('Available'));
    const revoked = tokens.splice(0);
    expect(revoked.length).toBeGreaterThan(0);
    for (const token of revoked) {
      const headers = { 'x-auth-token': token, 'x-subject-token': token };
      const { status } = await fetch(`${openStack.login.authUrl}/auth/tokens`, { method: 'DELETE', headers });
      expect(status).toBe(204);
    }
    await createNetwork(world, 'after');
    await untilSo(world, VirtualNetwork, 'after', isPhase('Available'));
    expect(refused).toBeGreaterThan(0);
    // No more logins than there were sessions.
    expect(tokens.length).toBeLessThanOrEqual(revoked.length + 2);
    await leaveNothing(world);
  } finally {
    await cluster.close();
    await openStack.close();
  }
}, 120_000);
