import { stories as adoption } from './adoption.ts';
import { stories as badInput } from './bad-input.ts';
import { stories as deadLetters } from './dead-letters.ts';
import { stories as deletion } from './deletion.ts';
import { stories as failures } from './failures.ts';
import { stories as inspection } from './inspection.ts';
import { stories as personsDay } from './kubectl.ts';
import { stories as machineBadInput } from './machine-bad-input.ts';
import { stories as machineDeletion } from './machine-deletion.ts';
import { stories as machineFailures } from './machine-failures.ts';
import { stories as machineGuests } from './machine-guests.ts';
import { stories as machineHardware } from './machine-hardware.ts';
import { stories as machineImages } from './machine-images.ts';
import { stories as machinesLife } from './machines-life.ts';
import { postWithCurl, storiesWith } from './preload.ts';
import { stories as proposal } from './proposal.ts';
import { stories as pruning } from './pruning.ts';
import { stories as queue } from './queue.ts';
import { stories as references } from './references.ts';
import { stories as restored } from './restored.ts';
import { stories as revisions } from './revisions.ts';
import { stories as scale } from './scale.ts';
import { stories as sharedContent } from './shared-content.ts';
import { stories as subscriptions } from './subscriptions.ts';
import { stories as takenNames } from './taken-names.ts';
import { stories as webhook } from './webhook.ts';
import { stories as workspaceBadInput } from './workspace-bad-input.ts';
import { stories as workspaceDeletion } from './workspace-deletion.ts';
import { stories as workspaceFailures } from './workspace-failures.ts';
import { stories as workspaceLifetime } from './workspace-lifetime.ts';
import { stories as workspaceLostEvents } from './workspace-lost-events.ts';
import { stories as workspaceNetworks } from './workspace-networks.ts';
import { stories as workspaceProposal } from './workspace-proposal.ts';
import { stories as workspaceRepaired } from './workspace-repaired.ts';
import { stories as workspaceRoles } from './workspace-roles.ts';
import { stories as workspaceStuck } from './workspace-stuck.ts';
import { stories as workspaces } from './workspaces-life.ts';
import type { Story } from './world.ts';

/** Stories by what they are about. */
export type Groups = Readonly<Record<string, readonly Story[]>>;

/** Every story that is written once for all kinds of cluster, by subject. Each subject has a file in `local/`, which runs it. */
export const subjects = {
  images: {
    queue,
    inspection,
    'shared content': sharedContent,
    failures,
    deletion,
    revisions,
    adoption,
    'taken names': takenNames,
    'a restored backup': restored,
    subscriptions,
  },
  input: {
    'bad input': badInput,
    preload: storiesWith('curl', postWithCurl),
    'dead letters': deadLetters,
    'events for others': webhook,
    "a person's day": personsDay,
    'bad input of machines': machineBadInput,
    'bad input of workspaces': workspaceBadInput,
  },
  machines: {
    "a machine's image": machineImages,
    "a machine's life": machinesLife,
    'what fails a machine': machineFailures,
    "a machine's guest": machineGuests,
    "a machine's hardware": machineHardware,
  },
  references: {
    references,
    pruning,
    'deletion of machines and images': machineDeletion,
    'what was proposed and asked': proposal,
  },
  workspaces: {
    'a workspace': workspaces,
    'lifetime of a workspace': workspaceLifetime,
    'workspaces of which no event tells': workspaceLostEvents,
    'what is mended of a workspace': workspaceRepaired,
    'networks of a workspace': workspaceNetworks,
    'deploy roles of a workspace': workspaceRoles,
    'what was drawn of workspaces': workspaceProposal,
  },
  'workspace-faults': {
    'what fails a workspace': workspaceFailures,
    'deletion of workspaces': workspaceDeletion,
    'workspaces that cannot go yet': workspaceStuck,
  },
} satisfies Readonly<Record<string, Groups>>;

/** All groups of all subjects, and what has a file of its own in `local/`. */
export const allStories: Groups = Object.assign({ scale }, ...Object.values(subjects));
