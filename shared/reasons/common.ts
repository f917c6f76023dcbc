import { openstackCredentials } from '../kinds/core/secret.ts';
import { operatorNamespace } from '../operator.ts';
import { policyName } from '../policy.ts';
import type { Row } from './row.ts';

/** `policy set` would replace a whole list; `edit` lets the user add to it. */
export const editPolicy = `kubectl edit configmap ${policyName} -n ${operatorNamespace}`;

/** Reasons that objects of several kinds have. */
export const common = {
  Creating: 'It is being created.',
  Starting: 'It is on its way to running.',
  Running: 'It runs.',
  Stopping: 'It is being stopped.',
  Halted: 'It is stopped, as its spec or the policy says.',
  Restarting: 'It is being restarted.',
  Terminating: 'It is being deleted, or an object of its name is.',
  Skipped: "The policy's ignoreOnDeploy leaves it out.",
  Available: 'It runs, or is ready for use.',
  Failed: 'It failed; the message says why.',
  UpToDate: 'What exists matches the spec.',
  Forbidden: {
    means: 'The API server or OpenStack does not permit it: a role, a quota or an admission policy.',
    help: 'Grant what the message names; it is tried again by itself.',
  },
  Rejected: {
    means: 'The API server or a webhook refused an object as invalid.',
    help: 'Correct what the message names; it is tried again by itself.',
  },
  NameTaken: {
    means: 'An object of the wanted name has another owner.',
    help: 'Rename or delete the object that the message names.',
  },
  InvalidPolicy: {
    means: 'A key of the policy does not parse; what depends on it waits.',
    help: 'Correct the key that the message names.',
    run: ['ot-functions policy', 'ot-functions policy set KEY VALUE'],
  },
  SourceNotAllowed: {
    means: "No line of the policy's allowedSources permits the url.",
    help: "Correct the url, or, if it may be downloaded, add the line that the message names to the policy's allowedSources; either starts a new download.",
    run: ['kubectl edit KIND NAME -n NAMESPACE', 'ot-functions policy', editPolicy],
  },
  ImageMissing: {
    means: 'The image does not exist, and nothing says how to create it.',
    help: 'Create it, or say how it is made: a vmDiskImageTemplate, or the policy key imageUrlTemplate. On OpenStack upload it to Glance, or name another.',
  },
  NetworkMissing: {
    means: 'A network does not exist.',
    help: 'Create the network that the message names (for a machine of pelotech.ot a NetworkAttachmentDefinition), or name another; it then continues by itself.',
    run: ['kubectl edit KIND NAME -n NAMESPACE'],
  },
  MultusMissing: {
    means: 'Multus, which attaches networks, is not installed.',
    help: 'Install Multus on the cluster, or take the networks out of the machine.',
    run: ['kubectl edit KIND NAME -n NAMESPACE'],
  },
  CredentialsMissing: {
    means: 'A Secret with credentials does not exist.',
    help: `Create Secret ${openstackCredentials} with clouds.yaml: in namespace NAMESPACE for it alone, in ${operatorNamespace} for all that have none.`,
    run: [`kubectl create secret generic ${openstackCredentials} -n NAMESPACE --from-file=clouds.yaml=FILE`],
  },
  NetworkNotAllowed: {
    means: "The machine names a network of a namespace that the policy's machineNetworks does not name.",
    help: "Name a network of NAMESPACE, or have a platform admin add the other namespace to the policy's machineNetworks.",
    run: ['kubectl edit otvm NAME -n NAMESPACE', editPolicy],
  },
  CloneFailed: {
    means: 'CDI cannot clone a snapshot; an image is downloaded instead.',
    help: 'Find out from CDI what prevents the clone; it recovers by itself.',
    run: ['kubectl describe dv DATAVOLUME -n NAMESPACE'],
  },
  DeadLetter: {
    means: 'Events reached no function that could process them.',
    help: 'See the log of the function that the message names; what was lost is found at the next audit.',
    run: ['ot-functions doctor'],
  },
  NotStarted: {
    means: 'It has not started: an attempt within startTimeout, or what its spec does not ask to run.',
    help: 'Correct what the message names; it then starts by itself.',
  },
  ImagePullFailed: {
    means: 'The container image of an importer or a launcher cannot be pulled.',
    help: 'Make the container image that the message names available to the nodes.',
  },
} as const satisfies Readonly<Record<string, Row>>;
