import { syncRequested, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { createImage, type Spec, until, untilGone } from '../../stories/world.ts';
import { attempt, count, type Person, think, untilStopped, wait } from './people.ts';
import { sources } from './sources.ts';

const mostDeeds = 2;
const endsWithinMs = 45_000;
const goneWithinMs = 15_000;

/** Makes an image, asks for it anew, changes it, deletes it and makes another under the same name, again and again. */
export const useImage = (person: Person, name: string): Promise<void> =>
  untilStopped(person, async () => {
    await create(person, name);
    for (let deeds = person.chance.below(mostDeeds + 1); deeds > 0; deeds--) {
      if (person.chance.percent(80)) await ends(person, name);
      else await think(person, 100, 2000);
      await change(person, name);
    }
    if (person.chance.percent(80)) await ends(person, name);
    await remove(person, name);
  });

/** Its old namesake may still be going; one that is there already was made for a machine, and will do as well. */
async function create(person: Person, name: string): Promise<void> {
  const { world, chance, tally } = person;
  const spec = specOf(person);
  while (!(await attempt(person, () => createImage(world, name, spec)))) {
    const found = await attempt(person, () => world.kube.get(VMDiskImage, { namespace: world.namespace, name }));
    if (found && found.metadata.deletionTimestamp === undefined) return;
    await think(person, 100, 500);
  }
  count(tally, 'images made');
  if (chance.percent(15))
    world.store.faults.push({ match: `${spec.url?.split('/').pop()}`, mode: 'cutAt', fraction: 0.5, times: 1 });
}

function specOf({ world, chance }: Person): Partial<Spec> {
  const { key, ...spec } = chance.oneOf(sources);
  return { url: `${world.store.url}/images/${key}`, ...spec };
}

async function change(person: Person, name: string): Promise<void> {
  const { world, chance, tally } = person;
  const ref = { namespace: world.namespace, name };
  const annotations = { [syncRequested]: `${chance.below(1_000_000)}` };
  const patch = chance.percent(50) ? { metadata: { annotations } } : { spec: specOf(person) };
  count(tally, 'metadata' in patch ? 'syncs requested' : 'images changed');
  await attempt(person, () => world.kube.patch(VMDiskImage, ref, patch));
}

/** Waits until it is ready or has failed, or for as long as anybody would. */
async function ends(person: Person, name: string): Promise<void> {
  const isEnd = (image: VMDiskImage | undefined) =>
    image === undefined || image.status?.phase === 'Succeeded' || image.status?.phase === 'Failed';
  const ref = { namespace: person.world.namespace, name };
  await wait(person, () => until(person.world, VMDiskImage, ref, isEnd, endsWithinMs));
}

async function remove(person: Person, name: string): Promise<void> {
  const { world, chance, tally } = person;
  const ref = { namespace: world.namespace, name };
  await attempt(person, () => world.kube.delete(VMDiskImage, ref));
  count(tally, 'images deleted');
  if (chance.percent(50)) await wait(person, () => untilGone(world, VMDiskImage, ref, goneWithinMs));
}
