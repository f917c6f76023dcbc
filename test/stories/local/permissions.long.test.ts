import { generatedFolders, readManifests } from '../../../deploy/manifests.ts';
import { grantedRules, inWords } from '../../proofs/permissions/granted.ts';
import { named } from '../../proofs/permissions/named.ts';
import { isOfWorkspaces } from '../../proofs/permissions/of-workspaces.ts';
import { proveNeeded } from '../../proofs/permissions/prove-needed.ts';
import { withoutTimers } from '../../proofs/permissions/story-run.ts';
import { stories as badInput } from '../bad-input.ts';
import { stories as deadLetters } from '../dead-letters.ts';
import { stories as deletion } from '../deletion.ts';
import { stories as failures } from '../failures.ts';
import { stories as inspection } from '../inspection.ts';
import { stories as machineBadInput } from '../machine-bad-input.ts';
import { stories as machineDeletion } from '../machine-deletion.ts';
import { stories as machineFailures } from '../machine-failures.ts';
import { stories as machineHardware } from '../machine-hardware.ts';
import { stories as machineImages } from '../machine-images.ts';
import { stories as machinesLife } from '../machines-life.ts';
import { postWithFetch, storiesWith } from '../preload.ts';
import { stories as pruning } from '../pruning.ts';
import { stories as references } from '../references.ts';
import { stories as revisions } from '../revisions.ts';
import { stories as subscriptions } from '../subscriptions.ts';
import { stories as takenNames } from '../taken-names.ts';

/**
 * Few and quick stories that use every rule between them; of those that use a rule the first ones are tried first. No
 * timer runs in them: what a sweep would find a little later has to be found immediately.
 */
const stories = [
  ...[
    named(deletion, /while Queued/),
    named(takenNames, /DataVolume/),
    named(storiesWith('fetch', postWithFetch), /outside imageNamespaces/),
    named(subscriptions, /a raised limit/),
    named(revisions, /a user deleted is reported as lost/),
    named(badInput, /a source the policy does not allow/),
  ].map(withoutTimers),
  named(subscriptions, /the audit alone/),
  named(inspection, /the sweep alone/),
  named(references, /the audit alone counts/),
  named(revisions, /gets one by the audit alone/),
  named(machineImages, /the audit alone makes the image/),
  ...[
    named(failures, /is missing fails at once/),
    named(inspection, /is an HTML page/),
    named(inspection, /no known format/),
    named(deletion, /while Syncing/),
    named(deletion, /while Succeeded/),
    named(revisions, /last snapshot stays usable/),
    named(revisions, /a DataSource names the snapshot in use/),
    named(deadLetters, /raise the count of one Event/),
    named(deadLetters, /has the Broker's/),
    named(machineImages, /comes before its image/),
    named(machineImages, /waits for its image, and continues/),
    named(machineImages, /^FailIfNotExist that is changed/),
    named(machineImages, /template and an existing image differ/),
    named(machineBadInput, /^a namespace that is not there: /),
    named(machineHardware, /a preference that does not exist/),
    named(machineHardware, /an instancetype is used once/),
    named(references, /right after every machine/),
    named(references, /may not name the image/),
    named(pruning, /at the last moment/),
    named(machineDeletion, /^the image first/),
    named(machineFailures, /whose node is lost/),
    named(machinesLife, /^from apply to Ready/),
    named(machinesLife, /from the namespace of images/),
    named(machinesLife, /^changed users/),
    named(machinesLife, /^a fixed address/),
    named(machinesLife, /without it it starts/),
    named(machinesLife, /^a clone that cannot go on/),
    named(machinesLife, /^thirty machines/),
  ].map(withoutTimers),
];

/** What others of the stories use of these they mostly do not need. */
const tellers = {
  'ensure-vmdi': /^(FailIfNotExist that is changed|with every event dropped the audit alone makes the image)/,
  'count-refs': /^(an image says who uses it|with every event dropped the audit alone counts)/,
  'source-kubevirt': /whose node is lost/,
  'provision-vm':
    /^(from apply|a disk is cloned|changed users|a fixed address|a machine with ignoreOnDeploy|a disk that waits|a clone that cannot|\S+ machines that wait)/,
};

/** Used at a scrape and by no event: proven in deploy/local/telemetry.slow.test.ts. */
const atScrape = ['start-sync list virtualmachines.pelotech.ot', 'start-sync list workspaces.pelotech.ot'];

/** Without it everything works, at a higher price: proven in functions/start-sync/index.test.ts. */
const forItsCost = ['start-sync watch vmdiskimages.pelotech.ot'];

const granted = grantedRules(await readManifests(...generatedFolders)).filter(
  (rule) => ![...atScrape, ...forItsCost].includes(inWords(rule)) && !isOfWorkspaces(rule),
);

proveNeeded('what ServiceAccounts are granted', { stories, tellers, granted });
