import { test } from 'vitest';
import { onLocalCluster } from '../local-world.ts';
import { stories } from '../scale.ts';

for (const story of stories) test(story.name, () => onLocalCluster(story), 300_000);
