import { describe, test } from 'vitest';
import { hasKubectl, onLocalCluster } from './local-world.ts';
import { inSuite, type Suites } from './suite.ts';
import type { Story, World } from './world.ts';

const { env } = import.meta as { env?: { MODE?: string } };

/** Declares a test for each story of the suite that runs, each on a local cluster of its own; several run at once. */
export function runLocally(group: string, stories: readonly Story[], suites: Suites = {}): void {
  const chosen = inSuite(stories, suites, env?.MODE);
  // Vitest fails a group without a test, and a file that has none.
  if (chosen.length === 0) return;
  describe(`on the local cluster: ${group}`, () => {
    for (const story of chosen) test.concurrent(story.name, () => onLocalCluster(story), 120_000);
  });
}

/** A story that needs the real kubectl. */
export type KubectlStory = Omit<Story, 'run'> & {
  run(world: World & { kubectl: NonNullable<World['kubectl']> }): Promise<void>;
};

/** The same for stories with kubectl, which are skipped aloud where there is none on the PATH. */
export async function runLocallyWithKubectl(
  group: string,
  stories: readonly KubectlStory[],
  suites: Suites = {},
): Promise<void> {
  const chosen = inSuite(stories, suites, env?.MODE);
  if (chosen.length === 0) return;
  const isThere = await hasKubectl();
  if (!isThere) console.warn(`skipped: ${chosen.length} stories of ${group} need kubectl on the PATH`);
  describe.skipIf(!isThere)(`on the local cluster with kubectl: ${group}`, () => {
    for (const story of chosen) {
      const run = async (world: World) => {
        const { kubectl } = world;
        if (kubectl) await story.run({ ...world, kubectl });
      };
      test.concurrent(story.name, () => onLocalCluster({ ...story, run }), 120_000);
    }
  });
}
