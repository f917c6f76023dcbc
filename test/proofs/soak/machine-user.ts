import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { createMachine, templateOf, untilMachine } from '../../stories/machines.ts';
import { attempt, count, think, type User, untilStopped, wait } from './user.ts';

const readyWithinMs = 45_000;

/** Repeatedly creates a machine on one of these images, lets it run for a while, and deletes it. */
export const useMachine = (user: User, name: string, images: readonly [string, ...string[]]): Promise<void> =>
  untilStopped(user, async () => {
    await create(user, name, user.chance.oneOf(images));
    if (user.chance.percent(70)) await wait(user, () => untilMachine(user.world, name, 'Ready', readyWithinMs));
    await think(user, 100, 5000);
    await attempt(user, () => user.world.kube.delete(VirtualMachine, { namespace: user.world.namespace, name }));
    count(user.tally, 'machines deleted');
  });

async function create(user: User, name: string, image: string): Promise<void> {
  const { world, chance, tally } = user;
  const template = { ...templateOf(world, image), url: `${world.store.url}/images/good.qcow2` };
  const spec = chance.percent(60) ? { vmDiskImageTemplate: template } : {};
  while (!(await attempt(user, () => createMachine(world, name, image, spec)))) await think(user, 100, 500);
  count(tally, 'machines made');
}
