import { expect } from 'vitest';
import provisionServer from '../../../functions/provision-server/index.ts';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { Flavor, isOurs, listFlavors } from '../../../shared/kinds/openstack/flavor.ts';
import { KeyPair, listKeyPairs } from '../../../shared/kinds/openstack/key-pair.ts';
import { listPorts, Port } from '../../../shared/kinds/openstack/network.ts';
import { listServers, Server } from '../../../shared/kinds/openstack/server.ts';
import { CinderVolume, listVolumes } from '../../../shared/kinds/openstack/volume.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Session } from '../../../shared/runtime/openstack/session.ts';
import { livesOf, type Stage } from './openstack-crashes.ts';
import { administratorOf, byHand, serveOnOpenStack, sessionOf, stageMs } from './openstack-harness.ts';

/**
 * Machines that are made, changed and deleted, each by a process that ends after another write; hands back what the first of them
 * came to, and how many there were.
 */
export async function machineLives(changes: readonly object[]) {
  const harness = await serveOnOpenStack(provisionServer, { isQuick: true });
  const { kube, clock } = harness;
  const account = administratorOf(harness.openStack);
  await harness.namespace('lab', account);
  const session = sessionOf(account, clock.now);
  await prepare(session, () => clock.step(10 * stageMs));
  try {
    const { whole, lives } = await livesOf(harness, (name) => stagesOf({ kube, session }, name, changes));
    for (const { stage, write, ends } of lives)
      for (const [index, end] of ends.entries())
        if (end) expect({ stage, write, index, end }).toEqual({ stage, write, index, end: whole?.[index] });
    return { whole, lives: lives.length };
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

function stagesOf(
  { kube, session }: { kube: Kube; session: Session },
  name: string,
  changes: readonly object[],
): Stage[] {
  const ref = { namespace: 'lab', name };
  const found = () => kube.get(KupenStackMachine, ref);
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
  const common = {
    look: (process: Parameters<Stage['look']>[0]) => process.changed(KupenStackMachine, ref),
    isOver: async () => {
      const { metadata, status } = (await found()) ?? {};
      const isReady = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True');
      const disks = await session.list(listVolumes(), 'volumes', CinderVolume);
      const isMoving = disks.some((disk) => /^reserved$|ing$/.test(disk.status));
      return status?.observedGeneration === metadata?.generation && isReady === true && !isMoving;
    },
    end: async () => ({ status: (await found())?.status, ...(await content()) }),
  };
  const { apiVersion, kind } = KupenStackMachine;
  const spec = { vcpu: 1, memory: '64Mi', publicKey, virtualNetworks: ['net-a'], diskAttachments: [{ name: 'disk' }] };
  return [
    { ...common, act: () => kube.create(KupenStackMachine, { apiVersion, kind, metadata: ref, spec }) },
    ...changes.map((change) => ({ ...common, act: () => kube.patch(KupenStackMachine, ref, { spec: change }) })),
    { ...common, act: () => kube.delete(KupenStackMachine, ref), isOver: async () => (await found()) === undefined },
  ];
}
