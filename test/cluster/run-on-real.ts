import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allStories, type Groups } from '../stories/all.ts';
import { leaked } from '../stories/leaked.ts';
import { passwords } from '../stories/machines-life.ts';
import type { Story } from '../stories/world.ts';
import { install, type Overlay, removeFunctions } from './installation.ts';
import { kubectlOrFail, portForward } from './kubectl.ts';
import { adminClient, onRealCluster } from './world.ts';

const storiesThat = (isChosen: (story: Story) => boolean | undefined): Groups =>
  Object.fromEntries(Object.entries(allStories).map(([group, stories]) => [group, stories.filter(isChosen)]));

/** The stories of each CI run. */
export const smokeStories = storiesThat(({ smoke }) => smoke);

/** One function in two installations: what a Deployment has to do otherwise than a Knative Service. */
export const ofDeployments = storiesThat(({ onDeployments }) => onDeployments);

/** Declares a test for each story, one after the other on the cluster of KUBECONFIG, with the functions of an overlay. */
export function runOnReal(overlay: Overlay, groups: Groups): void {
  let broker: Awaited<ReturnType<typeof portForward>>;
  let isInstalled = false;
  beforeAll(async () => {
    await install(overlay);
    isInstalled = true;
    broker = await portForward('knative-eventing', 'broker-ingress', 80);
  });
  afterAll(async () => {
    broker?.close();
    // After a refused installation what exists is not ours.
    if (isInstalled) await removeFunctions();
  });
  for (const [group, stories] of Object.entries(groups)) {
    // A suite without a test fails.
    if (stories.length === 0) continue;
    describe(`on a real cluster, ${overlay}: ${group}`, () => {
      for (const story of stories) {
        if (story.localOnly) console.warn(`skipped: "${story.name}": ${story.localOnly}`);
        test.skipIf(story.localOnly)(story.name, () =>
          onRealCluster(story, { kube: adminClient(), broker: `${broker.url}/sync-operator/default` }),
        );
      }
    });
  }
  test(`no log of ours on a real cluster, ${overlay}, holds a password of the stories`, async () => {
    const ours = ['--namespace', 'sync-operator', '--selector', 'app.kubernetes.io/part-of=ot-functions'];
    // A pod that comes or goes at this moment has no log to read.
    const logs = await kubectlOrFail('logs', ...ours, '--all-containers', '--tail=-1', '--ignore-errors');
    expect(leaked(logs, passwords)).toEqual([]);
  });
}
