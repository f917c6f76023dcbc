import { expect } from 'vitest';
import { giveAccount } from '../../../deploy/local/openstack/account.ts';
import { type LocalCluster, startLocal } from '../../../deploy/local/start.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { setPolicy } from '../world.ts';
import { publicKey } from './machines-life.ts';
import { leaveNothing, quickPolicy, sourcesAt, worldIn } from './run.ts';
import { type Services, schedules } from './services.ts';
import {
  changeMachine,
  contentOf,
  createMachine,
  createNetwork,
  createVolume,
  isReady,
  type OpenStackWorld,
  projectOf,
  untilMachine,
} from './world.ts';

/** What becomes of one call: it is done, and then its answer is lost, or the process that asked ends. */
export const ends = ['its answer is lost', 'the function crashes'] as const;
export type End = (typeof ends)[number];

/** The calls that changed something, in order, as `POST /servers`. */
export type Calls = string[];

/**
 * One machine from nothing to its deletion: made with its network, disk and key, enlarged, put on a second network, stopped. The n-th call
 * that changes something (from 1 on) meets that end. Hands back those calls.
 */
export async function lifeWith(
  openStack: Services,
  imageUrl: string,
  crash?: { nth: number; end: End },
): Promise<Calls> {
  const calls: Calls = [];
  const fetchOpenStack: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init);
    if (init?.method === 'GET' || !answer.ok || String(url).endsWith('/auth/tokens')) return answer;
    calls.push(
      `${init?.method} ${new URL(String(url)).pathname.replace(/[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}/g, '…')}`,
    );
    if (calls.length !== crash?.nth) return answer;
    if (crash.end === 'its answer is lost') throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
    return crashing(answer);
  };
  const cluster = await startLocal({ openStack: true, simulators: false, schedules, fetchOpenStack });
  try {
    await giveAccount(cluster.kube, openStack.login);
    await setPolicy(cluster, { ...quickPolicy, allowedSources: sourcesAt(imageUrl) });
    await life(await worldOf(cluster, openStack), imageUrl);
  } finally {
    await cluster.close();
  }
  const made = calls.filter((call) => /^POST .*\/servers$/.test(call));
  expect(made).toHaveLength(1);
  return calls;
}

async function worldOf(cluster: LocalCluster, openStack: Services) {
  const world = worldIn(cluster, openStack);
  await cluster.kube.create(Namespace, { metadata: { name: world.namespace } });
  return world;
}

async function life(world: OpenStackWorld, imageUrl: string): Promise<void> {
  await createNetwork(world, 'net');
  await createVolume(world, 'disk', { source: { image: imageUrl } });
  await createMachine(world, 'vm', { publicKey, virtualNetworks: ['net'], diskAttachments: [{ name: 'disk' }] });
  const { status } = await untilMachine(world, 'vm', isReady);
  await createNetwork(world, 'second');
  await changeMachine(world, 'vm', { vcpu: 2, virtualNetworks: ['net', 'second'], running: false });
  const after = await untilMachine(world, 'vm', isReady);
  expect(after.status).toMatchObject({ id: status?.id, phase: 'Stopped' });
  const found = await contentOf(await projectOf(world));
  expect(found.servers).toMatchObject([{ id: status?.id, flavor: { vcpus: 2 } }]);
  expect(found.ports).toHaveLength(2);
  expect(found.volumes).toHaveLength(1);
  expect(found.networks).toHaveLength(2);
  expect(found.images).toHaveLength(0);
  // All at once, in no order.
  const { kube, namespace } = world;
  await Promise.all([
    kube.delete(VirtualNetwork, { namespace, name: 'net' }),
    kube.delete(Volume, { namespace, name: 'disk' }),
    kube.delete(KupenStackMachine, { namespace, name: 'vm' }),
  ]);
  await leaveNothing(world);
}

/** An answer that crashes its reader: the reconcile ends there, and knows nothing of it afterwards. */
const crashing = (answer: Response) =>
  new Proxy(answer, {
    get(target, key) {
      if (key === 'headers') throw new Error('the process is gone');
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
