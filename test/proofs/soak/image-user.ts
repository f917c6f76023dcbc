import { syncRequested, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { createImage, type Spec, until, untilGone } from '../../stories/world.ts';
import { sources } from './sources.ts';
import { attempt, count, think, type User, untilStopped, wait } from './user.ts';

const mostDeeds = 2;
const endsWithinMs = 45_000;
const goneWithinMs = 15_000;

/** Repeatedly creates an image, requests a sync, changes it, deletes it, and creates another under the same name. */
export const useImage = (user: User, name: string): Promise<void> =>
  untilStopped(user, async () => {
    await create(user, name);
    for (let deeds = user.chance.below(mostDeeds + 1); deeds > 0; deeds--) {
      if (user.chance.percent(80)) await ends(user, name);
      else await think(user, 100, 2000);
      await change(user, name);
    }
    if (user.chance.percent(80)) await ends(user, name);
    await remove(user, name);
  });

/** An earlier image of the same name may still be terminating; an existing one was created for a machine, and is used. */
async function create(user: User, name: string): Promise<void> {
  const { world, chance, tally } = user;
  const spec = specOf(user);
  while (!(await attempt(user, () => createImage(world, name, spec)))) {
    const found = await attempt(user, () => world.kube.get(VMDiskImage, { namespace: world.namespace, name }));
    if (found && found.metadata.deletionTimestamp === undefined) return;
    await think(user, 100, 500);
  }
  count(tally, 'images made');
  if (chance.percent(15))
    world.store.faults.push({ match: `${spec.url?.split('/').pop()}`, mode: 'cutAt', fraction: 0.5, times: 1 });
}

function specOf({ world, chance }: User): Partial<Spec> {
  const { key, ...spec } = chance.oneOf(sources);
  return { url: `${world.store.url}/images/${key}`, ...spec };
}

async function change(user: User, name: string): Promise<void> {
  const { world, chance, tally } = user;
  const ref = { namespace: world.namespace, name };
  const annotations = { [syncRequested]: `${chance.below(1_000_000)}` };
  const patch = chance.percent(50) ? { metadata: { annotations } } : { spec: specOf(user) };
  count(tally, 'metadata' in patch ? 'syncs requested' : 'images changed');
  await attempt(user, () => world.kube.patch(VMDiskImage, ref, patch));
}

/** Waits until it is ready or failed, for as long as a user would. */
async function ends(user: User, name: string): Promise<void> {
  const isEnd = (image: VMDiskImage | undefined) =>
    image === undefined || image.status?.phase === 'Succeeded' || image.status?.phase === 'Failed';
  const ref = { namespace: user.world.namespace, name };
  await wait(user, () => until(user.world, VMDiskImage, ref, isEnd, endsWithinMs));
}

async function remove(user: User, name: string): Promise<void> {
  const { world, chance, tally } = user;
  const ref = { namespace: world.namespace, name };
  await attempt(user, () => world.kube.delete(VMDiskImage, ref));
  count(tally, 'images deleted');
  if (chance.percent(50)) await wait(user, () => untilGone(world, VMDiskImage, ref, goneWithinMs));
}
