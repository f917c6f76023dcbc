import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { named } from '../proofs/permissions/named.ts';
import { stories as adoption } from '../stories/adoption.ts';
import { stories as badInput, kubectlStories as badInputWithKubectl } from '../stories/bad-input.ts';
import { stories as deadLetters, kubectlStories as deadLettersWithKubectl } from '../stories/dead-letters.ts';
import { stories as deletion } from '../stories/deletion.ts';
import { stories as failures } from '../stories/failures.ts';
import { stories as personsDay } from '../stories/kubectl.ts';
import { leaked } from '../stories/leaked.ts';
import {
  stories as machineBadInput,
  kubectlStories as machineBadInputWithKubectl,
} from '../stories/machine-bad-input.ts';
import {
  stories as machineDeletion,
  kubectlStories as machineDeletionWithKubectl,
} from '../stories/machine-deletion.ts';
import { stories as machineFailures } from '../stories/machine-failures.ts';
import { stories as machineImages } from '../stories/machine-images.ts';
import { stories as machinesLife, passwords } from '../stories/machines-life.ts';
import { postWithCurl, storiesWith } from '../stories/preload.ts';
import { stories as proposal } from '../stories/proposal.ts';
import { stories as pruning } from '../stories/pruning.ts';
import { stories as queue } from '../stories/queue.ts';
import { stories as references } from '../stories/references.ts';
import { stories as restored } from '../stories/restored.ts';
import { stories as revisions } from '../stories/revisions.ts';
import type { KubectlStory } from '../stories/run-locally.ts';
import { stories as scale } from '../stories/scale.ts';
import { stories as subscriptions } from '../stories/subscriptions.ts';
import { stories as takenNames } from '../stories/taken-names.ts';
import { stories as workspaces } from '../stories/workspace.ts';
import {
  stories as workspaceBadInput,
  kubectlStories as workspaceBadInputWithKubectl,
} from '../stories/workspace-bad-input.ts';
import { stories as workspaceDeletion } from '../stories/workspace-deletion.ts';
import { stories as workspaceFailures } from '../stories/workspace-failures.ts';
import { stories as workspaceLostEvents } from '../stories/workspace-lost-events.ts';
import { stories as workspaceMended } from '../stories/workspace-mended.ts';
import { stories as workspaceNetworks } from '../stories/workspace-networks.ts';
import { stories as workspaceProposal } from '../stories/workspace-proposal.ts';
import { stories as workspaceRoles } from '../stories/workspace-roles.ts';
import { stories as workspaceStuck } from '../stories/workspace-stuck.ts';
import type { Story } from '../stories/world.ts';
import { install, type Overlay, removeFunctions } from './installation.ts';
import { kubectl, kubectlOrFail, portForward } from './kubectl.ts';
import { adminClient, onRealCluster } from './world.ts';

function mapped<K extends string, V, T>(of: Record<K, V>, make: (value: V, key: K) => T): Record<K, T> {
  const entries = Object.entries<V>(of).map(([key, value]) => [key, make(value, key as K)]);
  return Object.fromEntries(entries) as Record<K, T>;
}

const withKubectl = (stories: readonly KubectlStory[]): Story[] =>
  stories.map((story) => ({ ...story, run: (world) => story.run({ ...world, kubectl }) }));

/** All stories of labs, by what they are about. */
const allLabs = {
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

/** All stories but those of labs, by what they are about. */
const all = {
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
  'deletion of machines and images': [...machineDeletion, ...withKubectl(machineDeletionWithKubectl)],
  'a restored backup': restored,
  'what was proposed and asked': proposal,
  scale,
  subscriptions,
} satisfies Record<string, readonly Story[]>;

export const allStories = { ...all, ...allLabs } satisfies Record<string, readonly Story[]>;

/**
 * What each CI run asks of an installation, as the names of its stories begin: that each function is there, hears what it waits
 * for and may do what it does, and what is Kubernetes' own (admission, garbage collection, Pods, Jobs). What the functions decide
 * is the same on every cluster; a CI run has no time for it here, and `npm run test:cluster:slow` has all stories. A group that
 * is not named runs whole.
 */
const first: Partial<Record<keyof typeof allStories, readonly string[]>> = {
  queue: ['images sync in the order'],
  failures: ['a download that is cut off twice', 'keys the store refuses', 'a DataVolume that somebody deletes'],
  deletion: ['an image deleted while Succeeded', 'an image deleted while Syncing'],
  revisions: ['a requested sync'],
  adoption: ['an image waits'],
  'bad input': [
    'what the schema can refuse',
    'a source the policy does not allow',
    'a garbage status',
    'kubectl apply',
  ],
  preload: ['one POST', 'data that does not fit'],
  "a machine's image": ['a machine that comes before its image'],
  "a machine's life": ['from apply to Ready', 'a disk is cloned', 'a password is in', 'what was made for a machine'],
  'what fails a machine': ['a name that is taken'],
  'bad input of machines': ['what the schema of a machine can refuse', "the users' own manifest"],
  references: ['an image says who uses it'],
  pruning: ['an image that nobody uses'],
  'deletion of machines and images': ['the image first', 'the image in the foreground', 'an image whose finalizer'],
  'a restored backup': ['images that a backup brings back as they are'],
  'what was proposed and asked': [],
  'a lab': ["the users' own lab"],
  'what fails a lab': [],
  'deletion of labs': ['a Ready lab deleted'],
  'labs that cannot go yet': [],
  'labs of which no event tells': [],
  'what is mended of a lab': [],
  'networks of a lab': [],
  'deploy roles of a lab': ['a runner that the policy names'],
  'bad input of labs': ['what the schema of a lab', "the users' own manifest"],
  'what was drawn of labs': [],
};

const isFirst = (group: string, story: Story) =>
  first[group as keyof typeof allStories]?.some((start) => story.name.startsWith(start)) ?? true;

/** The stories of each CI run. Throws where a name is none's: a story that was renamed is not to be left out unseen. */
export const ofEachRun: Record<string, readonly Story[]> = mapped(allStories, (stories: readonly Story[], group) => {
  for (const start of first[group] ?? []) named(stories, start);
  return stories.filter((story) => isFirst(group, story));
});

/** One function in two installations: what a Deployment has to do otherwise than a Knative Service. */
export const ofDeployments = {
  preload: [named(all.preload, /^one POST/), named(all.preload, /^data that does not fit/)],
};

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
