import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { createMachine, templateOf, untilMachine } from '../../stories/machines.ts';
import { attempt, count, type Person, think, untilStopped, wait } from './people.ts';

const readyWithinMs = 45_000;

/** Makes a machine on one of these images, lets it run for a while, and deletes it, again and again. */
export const useMachine = (person: Person, name: string, images: readonly [string, ...string[]]): Promise<void> =>
  untilStopped(person, async () => {
    await create(person, name, person.chance.oneOf(images));
    if (person.chance.percent(70)) await wait(person, () => untilMachine(person.world, name, 'Ready', readyWithinMs));
    await think(person, 100, 5000);
    await attempt(person, () => person.world.kube.delete(VirtualMachine, { namespace: person.world.namespace, name }));
    count(person.tally, 'machines deleted');
  });

async function create(person: Person, name: string, image: string): Promise<void> {
  const { world, chance, tally } = person;
  const template = { ...templateOf(world, image), url: `${world.store.url}/images/good.qcow2` };
  const spec = chance.percent(60) ? { vmDiskImageTemplate: template } : {};
  while (!(await attempt(person, () => createMachine(world, name, image, spec)))) await think(person, 100, 500);
  count(tally, 'machines made');
}
