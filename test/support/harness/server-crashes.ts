import provisionServer from '../../../functions/provision-server/index.ts';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { Flavor, isOurs, listFlavors } from '../../../shared/kinds/openstack/flavor.ts';
import { KeyPair, listKeyPairs } from '../../../shared/kinds/openstack/key-pair.ts';
import { listPorts, Port } from '../../../shared/kinds/openstack/network.ts';
import { listServers, Server } from '../../../shared/kinds/openstack/server.ts';
import { CinderVolume, listVolumes } from '../../../shared/kinds/openstack/volume.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import type { Session } from '../../../shared/runtime/openstack/session.ts';
import { livesOf } from './openstack-crashes.ts';
import { administratorOf, byHand, serveOnOpenStack, sessionOf, stageMs } from './openstack-harness.ts';

/**
 * Machines that are made, changed and deleted, each by a process that ends after another write; hands back what the first of them
 * came to, and how many there were.
 */
export async function machineLives(changes: readonly object[]) {
  const harness = await serveOnOpenStack(provisionServer, { isQuick: true });
  const { clock } = harness;
  const account = administratorOf(harness.openStack);
  await harness.namespace('lab', account);
  const session = sessionOf(account, clock.now);
  await prepare(session, () => clock.step(10 * stageMs));
  const content = async () => {
    const { project } = await session.login();
    const [servers, ports, keyPairs, flavors] = await Promise.all([
      session.list(listServers(), 'servers', Server),
      session.list(listPorts(project.id), 'ports', Port),
      session.list(listKeyPairs(), 'keypairs', KeyPair),
      session.list(listFlavors(), 'flavors', Flavor),
    ]);
    return {
      servers: servers.map(({ status, flavor }) => ({ status, vcpus: flavor.vcpus })),
      ports: ports.map((port) => port.name),
      keyPairs: keyPairs.length,
      flavors: flavors.filter(isOurs).map((flavor) => flavor.name),
    };
  };
  const isDone = async ({ status }: KupenStackMachine) => {
    const disks = await session.list(listVolumes(), 'volumes', CinderVolume);
    const isMoving = disks.some((disk) => /^reserved$|ing$/.test(disk.status));
    return conditionOf(status?.conditions, 'Ready')?.status === 'True' && !isMoving;
  };
  try {
    return await livesOf(harness, { resource: KupenStackMachine, spec, changes, isDone, content });
  } finally {
    await harness.close();
  }
}

/** Networks `net-a` and `net-b`, and bootable volumes `disk` and `data`. */
async function prepare(session: Session, wait: () => void) {
  const make = async (service: 'network' | 'volume', path: string, what: string, body: object) =>
    ((await session.send(byHand(service, 'POST', path, { [what]: body }))) as Record<string, { id: string }>)[what]?.id;
  for (const name of ['net-a', 'net-b']) {
    const network_id = await make('network', '/v2.0/networks', 'network', { name });
    await make('network', '/v2.0/subnets', 'subnet', { network_id, cidr: '10.7.0.0/24', ip_version: 4 });
  }
  for (const name of ['disk', 'data']) {
    const id = await make('volume', '/volumes', 'volume', { name, size: 1 });
    wait();
    await session.send(byHand('volume', 'POST', `/volumes/${id}/action`, { 'os-set_bootable': { bootable: true } }));
  }
}

const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7M0wdB5QCr3u5YOEqTXJ7zOJWJ2G8o0mQXH8cLwPzN ops@example.com';

const spec = { vcpu: 1, memory: '64Mi', publicKey, virtualNetworks: ['net-a'], diskAttachments: [{ name: 'disk' }] };
