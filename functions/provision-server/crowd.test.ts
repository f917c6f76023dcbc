import { expect, test } from 'vitest';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { keyPairName } from '../../shared/kinds/openstack/key-pair.ts';
import { aKupenStackMachine, aNetwork, aPort, aServer } from '../../test/support/builders/openstack.ts';
import { looksPerObject } from '../../test/support/harness/crowded-project.ts';
import { gather } from './gather.ts';

function looks(count: number) {
  const objects = Array.from({ length: count }, (_, index) => {
    const name = `vm-${index}`;
    return aKupenStackMachine({ name, status: { id: `server-of-${name}` } });
  });
  const lists = {
    servers: objects.map((machine) => aServer(machine, { id: `server-of-${machine.metadata.name}` })),
    ports: objects.map((machine) => aPort(machine, aNetwork())),
    keypairs: objects.map(({ metadata }) => ({ keypair: { name: keyPairName(metadata.uid) } })),
  };
  return looksPerObject(gather, { resource: KupenStackMachine, objects, lists });
}

test('beside ten times as many machines of a project, no server, port or key pair is looked at more often', async () => {
  expect(await looks(100)).toBeLessThan(1.5 * (await looks(10)));
});
