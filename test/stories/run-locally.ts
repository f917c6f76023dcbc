import { describe, test } from 'vitest';
import type { Groups } from './all.ts';
import { hasKubectl, onLocalCluster } from './local-world.ts';

const { env } = import.meta as { env?: { MODE?: string } };
const isSlow = env?.MODE === 'slow';

/** Declares a test for each story of the suite that runs, quick or slow, each on a local cluster of its own; several run at once. */
export async function runLocally(groups: Groups): Promise<void> {
  const isKubectlThere = await hasKubectl();
  for (const [group, all] of Object.entries(groups)) {
    const stories = all.filter(({ quick = false }) => quick !== isSlow);
    const skipped = isKubectlThere ? [] : stories.filter(({ needsKubectl }) => needsKubectl);
    if (skipped.length > 0) console.warn(`skipped: ${skipped.length} stories of ${group} need kubectl on the PATH`);
    // Vitest fails a group without a test.
    if (stories.length === 0) continue;
    describe(`on the local cluster: ${group}`, () => {
      for (const story of stories)
        test.skipIf(skipped.includes(story)).concurrent(story.name, () => onLocalCluster(story), 120_000);
    });
  }
}
