import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { policyRef } from '../../../shared/policy.ts';
import { setPolicy, type World } from '../../stories/world.ts';
import { attempt, count, think, type User, untilStopped } from './user.ts';

type Data = Readonly<Record<string, string>>;

/** The policy at the beginning, and at the end. */
export const policyOf = ({ store }: Pick<World, 'store'>): Data => ({
  allowedSources: `${store.url}/** s3-reader`,
  concurrency: '3',
  retryLimit: '2',
  retryBackoffDuration: '1s',
  // Attempts are to fail, and no Pod reaches the store.
  inspectTimeout: '0s',
  prune: 'Never',
  pruneAfter: '168h',
  workspaceImagesKeptFor: '0s',
});

const edits: readonly [Data, ...Data[]] = [
  { concurrency: '1' },
  { concurrency: '2' },
  { concurrency: '4' },
  { concurrency: '0' },
  { retryLimit: '0' },
  { retryLimit: '1' },
  { retryBackoffDuration: '200ms' },
  { prune: 'DryRun', pruneAfter: '1s' },
  { prune: 'WhenUnreferenced', pruneAfter: '10s' },
];

const garbage: readonly [Data, ...Data[]] = [
  { concurrency: '-1' },
  { concurrency: '' },
  { concurrency: '4x' },
  { concurrency: '1e9' },
  { retryLimit: 'many' },
  { retryBackoffDuration: '5 minutes' },
  { prune: 'Always' },
];

/** Makes a valid or invalid edit of the policy, or deletes it; repairs it after a while. */
export const editPolicy = (user: User): Promise<void> =>
  untilStopped(user, async () => {
    const { chance, tally } = user;
    await think(user, 4000, 15_000);
    const isBad = chance.percent(40);
    const change = chance.oneOf(isBad ? garbage : edits);
    if (chance.percent(10)) {
      await attempt(user, () => user.world.kube.delete(ConfigMap, policyRef));
      count(tally, 'policies deleted');
    } else {
      await attempt(user, () => setPolicy(user.world, change));
      count(tally, isBad ? 'policies made garbage' : 'policies edited');
    }
    await think(user, 1000, 4000);
    await attempt(user, () => restorePolicy(user));
  });

/** Restores the initial policy, even if it was deleted. */
export async function restorePolicy({ world }: Pick<User, 'world'>): Promise<void> {
  if (await world.kube.get(ConfigMap, policyRef)) await setPolicy(world, policyOf(world));
  else await world.kube.create(ConfigMap, { metadata: policyRef, data: policyOf(world) });
}
