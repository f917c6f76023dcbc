import { expect, test } from 'vitest';
import { kupenstackFinalizer } from '../../shared/kinds/kupenstack/condition.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { aCinderVolume, aKupenStackMachine, aNetwork, aPort, aServer } from '../../test/support/builders/openstack.ts';
import { looksPerObject } from '../../test/support/harness/crowded-project.ts';
import { decide } from './decide.ts';
import { gather } from './gather.ts';

function looks(count: number) {
  const objects = Array.from({ length: count }, (_, index) => {
    const name = `vm-${index}`;
    const spec = { virtualNetworks: [`net-${index}`], diskAttachments: [{ name: `disk-${index}` }] };
    return aKupenStackMachine({ name, spec, finalizers: [kupenstackFinalizer], status: { id: `server-of-${name}` } });
  });
  const lists = {
    servers: objects.map((machine) => aServer(machine, { id: `server-of-${machine.metadata.name}` })),
    ports: objects.map((machine) => aPort(machine, aNetwork())),
    networks: objects.map((_, index) => aNetwork(undefined, { id: `net-${index}`, name: `net-${index}` })),
    volumes: objects.map((_, index) => aCinderVolume(undefined, { id: `disk-${index}`, name: `disk-${index}` })),
  };
  const decided = async (...found: Parameters<typeof gather>) => (await gather(...found)).map(decide);
  return looksPerObject(decided, { resource: KupenStackMachine, objects, lists });
}

test('beside ten times as many machines of a project, nothing of the project is looked at more often', async () => {
  expect(await looks(100)).toBeLessThan(1.5 * (await looks(10)));
});
