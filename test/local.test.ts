import { describe, test } from 'vitest';
import { stories as deletion } from './journeys/deletion.ts';
import { stories as failures } from './journeys/failures.ts';
import { onLocalCluster } from './journeys/local-world.ts';
import { stories as queue } from './journeys/queue.ts';

const groups = { queue, failures, deletion };

describe.each(Object.entries(groups))('on the local cluster: %s', (_, stories) => {
  for (const story of stories) test.concurrent(story.name, () => onLocalCluster(story), 60_000);
});
