import { test } from 'vitest';
import { onLocalCluster } from '../local-world.ts';
import { slowStories } from '../references.ts';

for (const story of slowStories) test(story.name, () => onLocalCluster(story), 300_000);
