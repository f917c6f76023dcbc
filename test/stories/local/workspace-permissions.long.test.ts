import { generatedFolders, readManifests } from '../../../deploy/manifests.ts';
import { grantedRules } from '../../proofs/permissions/granted.ts';
import { named } from '../../proofs/permissions/named.ts';
import { isOfWorkspaces } from '../../proofs/permissions/of-workspaces.ts';
import { proveNeeded } from '../../proofs/permissions/prove-needed.ts';
import { withoutTimers } from '../../proofs/permissions/story-run.ts';
import { stories as deletion } from '../workspace-deletion.ts';
import { stories as failures } from '../workspace-failures.ts';
import { stories as mended } from '../workspace-repaired.ts';
import { stories as roles } from '../workspace-roles.ts';
import { stories as labs } from '../workspaces-life.ts';

/** The quickest first, without machines: of those that use a rule they are tried in this order. */
const stories = [
  ...[
    named(mended, /^a label that a user changes/),
    named(mended, /^parts that a lab says no more/),
    named(failures, /^a network that kube-ovn sets up late/),
    named(deletion, /^a lab that waits counts as a reference/),
    named(deletion, /^a Ready lab deleted/),
    named(labs, /still syncing at apply/),
    named(labs, /^whatever is edited/),
    named(labs, /^a changed lab/),
    named(roles, /^a runner that the policy names/),
  ].map(withoutTimers),
  // A Secret has no event.
  named(roles, /^a key of the lab's own/),
];

/** In most stories another event wakes the function once a network exists. */
const tellers = { 'source-kube-ovn': /^a network that kube-ovn sets up late/ };

const granted = grantedRules(await readManifests(...generatedFolders)).filter(isOfWorkspaces);

proveNeeded('what ServiceAccounts are granted for workspaces', { stories, tellers, granted });
