import { afterAll, beforeAll, describe, test } from 'vitest';
import { stories as deletion } from '../journeys/deletion.ts';
import { stories as failures } from '../journeys/failures.ts';
import { stories as queue } from '../journeys/queue.ts';
import { stories as revisions } from '../journeys/revisions.ts';
import { install } from './installation.ts';
import { portForward } from './kubectl.ts';
import { adminClient, onRealCluster } from './world.ts';

let broker: Awaited<ReturnType<typeof portForward>>;
beforeAll(async () => {
  await install('serving');
  broker = await portForward('knative-eventing', 'broker-ingress', 80);
}, 300_000);
afterAll(() => broker?.close());

for (const [group, stories] of Object.entries({ queue, failures, deletion, revisions })) {
  describe(`on a real cluster: ${group}`, () => {
    for (const story of stories) {
      test.skipIf(story.localOnly)(story.name, () =>
        onRealCluster(story, { kube: adminClient(), broker: `${broker.url}/sync-operator/default` }),
      );
    }
  });
}
