import { test } from 'vitest';
import { onLocalCluster } from '../journeys/local-world.ts';
import { slowStories } from '../journeys/references.ts';

for (const story of slowStories) test(story.name, () => onLocalCluster(story), 300_000);
