import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stories as adoption } from '../journeys/adoption.ts';
import { stories as badInput, kubectlStories as badInputWithKubectl } from '../journeys/bad-input.ts';
import { stories as deadLetters, kubectlStories as deadLettersWithKubectl } from '../journeys/dead-letters.ts';
import { stories as deletion } from '../journeys/deletion.ts';
import { stories as failures } from '../journeys/failures.ts';
import { stories as personsDay } from '../journeys/kubectl.ts';
import { leaked } from '../journeys/leaked.ts';
import {
  stories as machineBadInput,
  kubectlStories as machineBadInputWithKubectl,
} from '../journeys/machine-bad-input.ts';
import { stories as machineDeletion } from '../journeys/machine-deletion.ts';
import { stories as machineFailures } from '../journeys/machine-failures.ts';
import { stories as machineImages } from '../journeys/machine-images.ts';
import { stories as machinesLife, passwords } from '../journeys/machines-life.ts';
import { postWithCurl, storiesWith } from '../journeys/preload.ts';
import { stories as proposal } from '../journeys/proposal.ts';
import { stories as pruning } from '../journeys/pruning.ts';
import { stories as queue } from '../journeys/queue.ts';
import { stories as references } from '../journeys/references.ts';
import { stories as revisions } from '../journeys/revisions.ts';
import type { KubectlStory } from '../journeys/run-locally.ts';
import { stories as scale } from '../journeys/scale.ts';
import { stories as takenNames } from '../journeys/taken-names.ts';
import { stories as wakers } from '../journeys/wakers.ts';
import type { Story } from '../journeys/world.ts';
import { install, type Overlay, removeFunctions } from './installation.ts';
import { kubectl, kubectlOrFail, portForward } from './kubectl.ts';
import { adminClient, onRealCluster } from './world.ts';

const withKubectl = (stories: readonly KubectlStory[]): Story[] =>
  stories.map((story) => ({ ...story, run: (world) => story.run({ ...world, kubectl }) }));

/** All stories there are, by what they are about. */
export const allStories = {
  queue,
  failures,
  deletion,
  revisions,
  adoption,
  'taken names': takenNames,
  'bad input': [...badInput, ...withKubectl(badInputWithKubectl)],
  preload: storiesWith('curl', postWithCurl),
  'dead letters': [...deadLetters, ...withKubectl(deadLettersWithKubectl)],
  "a person's day": withKubectl(personsDay),
  "a machine's image": machineImages,
  "a machine's life": machinesLife,
  'what fails a machine': machineFailures,
  'bad input of machines': [...machineBadInput, ...withKubectl(machineBadInputWithKubectl)],
  references,
  pruning,
  'deletion of machines and images': machineDeletion,
  'what was proposed and asked': proposal,
  scale,
  wakers,
} satisfies Record<string, readonly Story[]>;

/** Declares a test for each story, one after the other on the cluster of KUBECONFIG, with the functions of an overlay. */
export function runOnReal(overlay: Overlay, groups: Readonly<Record<string, readonly Story[]>>): void {
  let broker: Awaited<ReturnType<typeof portForward>>;
  let isInstalled = false;
  beforeAll(async () => {
    await install(overlay);
    isInstalled = true;
    broker = await portForward('knative-eventing', 'broker-ingress', 80);
  });
  afterAll(async () => {
    broker?.close();
    // What stands there after an installation that was refused is somebody else's.
    if (isInstalled) await removeFunctions(overlay);
  });
  for (const [group, stories] of Object.entries(groups)) {
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
