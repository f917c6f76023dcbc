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
import { stories as workspaces } from '../journeys/workspace.ts';
import {
  stories as workspaceBadInput,
  kubectlStories as workspaceBadInputWithKubectl,
} from '../journeys/workspace-bad-input.ts';
import { stories as workspaceDeletion } from '../journeys/workspace-deletion.ts';
import { stories as workspaceFailures } from '../journeys/workspace-failures.ts';
import { stories as workspaceLostEvents } from '../journeys/workspace-lost-events.ts';
import { stories as workspaceMended } from '../journeys/workspace-mended.ts';
import { stories as workspaceNetworks } from '../journeys/workspace-networks.ts';
import { stories as workspaceProposal } from '../journeys/workspace-proposal.ts';
import { stories as workspaceRoles } from '../journeys/workspace-roles.ts';
import { stories as workspaceStuck } from '../journeys/workspace-stuck.ts';
import type { Story } from '../journeys/world.ts';
import { named } from '../permissions/named.ts';
import { install, type Overlay, removeFunctions } from './installation.ts';
import { kubectl, kubectlOrFail, portForward } from './kubectl.ts';
import { adminClient, onRealCluster } from './world.ts';

const withKubectl = (stories: readonly KubectlStory[]): Story[] =>
  stories.map((story) => ({ ...story, run: (world) => story.run({ ...world, kubectl }) }));

/** All stories of labs, by what they are about. */
export const allLabs = {
  'a lab': workspaces,
  'what fails a lab': workspaceFailures,
  'deletion of labs': workspaceDeletion,
  'labs that cannot go yet': workspaceStuck,
  'labs of which no event tells': workspaceLostEvents,
  'what is mended of a lab': workspaceMended,
  'networks of a lab': workspaceNetworks,
  'deploy roles of a lab': workspaceRoles,
  'bad input of labs': [...workspaceBadInput, ...withKubectl(workspaceBadInputWithKubectl)],
  'what was drawn of labs': workspaceProposal,
} satisfies Record<string, readonly Story[]>;

/** Those of labs that use every right, and break every kind of part: a CI run has no time for all of them. */
const labs = {
  'a lab': allLabs['a lab'],
  'what fails a lab': allLabs['what fails a lab'],
  'deletion of labs': [
    named(workspaceDeletion, /^a Ready lab deleted/),
    named(workspaceDeletion, /^a child that does not go/),
    named(workspaceDeletion, /^a lab that waits counts as a reference/),
  ],
  'what is mended of a lab': allLabs['what is mended of a lab'],
  'deploy roles of a lab': [
    named(workspaceRoles, /^a runner that the policy names/),
    named(workspaceRoles, /^the site's credentials/),
  ],
  'bad input of labs': allLabs['bad input of labs'],
};

/** The stories that a CI run has time for, by what they are about; of labs the others are in labs.slow.test.ts. */
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
  ...labs,
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
