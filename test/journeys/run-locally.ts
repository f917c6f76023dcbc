import { describe, test } from 'vitest';
import { hasKubectl, onLocalCluster } from './local-world.ts';
import type { Story, World } from './world.ts';

/** Declares a test for each story, each on a local cluster of its own; several run at once. */
export function runLocally(group: string, stories: readonly Story[]): void {
  describe(`on the local cluster: ${group}`, () => {
    for (const story of stories) test.concurrent(story.name, () => onLocalCluster(story), 120_000);
  });
}

/** A story that needs the real kubectl. */
export type KubectlStory = Omit<Story, 'run'> & {
  run(world: World & { kubectl: NonNullable<World['kubectl']> }): Promise<void>;
};

/** The same for stories with kubectl, which are skipped aloud where there is none on the PATH. */
export async function runLocallyWithKubectl(group: string, stories: readonly KubectlStory[]): Promise<void> {
  const isThere = await hasKubectl();
  if (!isThere) console.warn(`skipped: ${stories.length} stories of ${group} need kubectl on the PATH`);
  describe.skipIf(!isThere)(`on the local cluster with kubectl: ${group}`, () => {
    for (const story of stories) {
      const run = async (world: World) => {
        const { kubectl } = world;
        if (kubectl) await story.run({ ...world, kubectl });
      };
      test.concurrent(story.name, () => onLocalCluster({ ...story, run }), 120_000);
    }
  });
}
