import { hostKeyLabel, labelAsPassword, makeSecretOf } from '../kinds/core/secret.ts';
import { editPolicy } from './common.ts';
import type { Row } from './row.ts';

const remove = 'kubectl delete otvm NAME -n NAMESPACE';
const edit = 'kubectl edit otvm NAME -n NAMESPACE';

const correctSpec = {
  help: 'Correct in its spec what its message names; the machine then continues by itself.',
  run: [edit],
};
const cloneAgain = {
  help: 'Delete the DataVolume of its root disk: it is cloned again, without what was written to it.',
  run: ['kubectl describe dv DATAVOLUME -n NAMESPACE', 'kubectl delete dv DATAVOLUME -n NAMESPACE'],
};
const lookAtGuest = {
  help: 'Find out from KubeVirt what keeps the guest; the machine recovers by itself.',
  run: ['kubectl describe vmi NAME -n NAMESPACE', 'kubectl get events -n NAMESPACE --field-selector type=Warning'],
};

/** Reasons of VirtualMachines (pelotech.ot), and of what a Workspace says of images and machines. */
export const machineReasons = {
  ImageFound: 'Its image exists.',
  ImageReady: 'Its image is usable.',
  ImageQueued: 'Its image waits for a slot.',
  ImageSyncing: 'Its image is downloaded.',
  ImageRetrying: 'Its image waits for the next attempt; the message says why.',
  ImageSnapshotting: 'The snapshot of its image is being made.',
  ImageFailed: {
    means: 'Its image has failed.',
    help: 'Correct the image, which its message names.',
    run: ['kubectl describe otvm NAME -n NAMESPACE'],
  },
  ImageNotReady: 'Its image is not ready yet.',
  ImageNotUsable: 'Its image has no usable snapshot.',
  ImageTerminating: 'Its image is being deleted; it waits until that is gone.',
  ImageNamespaceMissing: {
    means: 'The namespace of its image does not exist.',
    help: 'Delete the machine and create it with the right vmDiskImageRef, which cannot be changed, or create the namespace.',
    run: [remove],
  },
  ImageNamespaceNotAllowed: {
    means: "The namespace of its image is not in the policy's imageNamespaces.",
    help: "Delete the machine and create it with the right vmDiskImageRef, which cannot be changed, or have a platform admin add the namespace to the policy's imageNamespaces.",
    run: [remove, editPolicy],
  },
  ImageNotAdopted: "Another author's template made the image; an admin or a publisher has to adopt it.",
  ImageRefused: 'The API server refused the image that the template asks for.',
  TemplateMismatch: 'The image exists and differs from vmDiskImageTemplate; the image counts.',
  Cloning: 'Its root disk is being cloned.',
  WaitForFirstConsumer: 'Its root disk is cloned when it starts.',
  DiskTerminating: 'Its root disk is being deleted; it waits until that is gone.',
  DiskReplaced: 'Its root disk was deleted under it; it gets a new one when it stops.',
  DiskOutdated: 'Its disk is of an earlier revision of the image, and is cloned again.',
  DiskSizeRaised: 'diskSize is below the size of the image; the disk has that of the image.',
  DiskSizeNotApplied: 'The disk cannot be enlarged to diskSize; it keeps its size.',
  DiskFailed: { means: 'CDI gave up the clone of its root disk.', ...cloneAgain },
  ClaimGone: { means: 'The claim of its root disk was deleted.', ...cloneAgain },
  ClaimNotFound: { means: 'KubeVirt does not find the claim of its root disk.', ...cloneAgain },
  DataVolumeError: { means: 'KubeVirt finds an error in its root disk.', ...cloneAgain },
  PasswordSecretMissing: {
    means: 'A Secret with a password does not exist, or lacks the key.',
    help: 'Create the Secret that its message names, with the password of each key in a FILE, and label it.',
    run: [makeSecretOf(['KEY'], { namespace: 'NAMESPACE', name: 'SECRET' }), labelAsPassword('SECRET', 'NAMESPACE')],
  },
  PasswordSecretNotAllowed: {
    means: 'The Secret with a password is not labelled as one, or holds credentials of the operator.',
    help: 'Do what its message says: label the Secret if machines may use it as a password, or name another.',
    run: [edit],
  },
  HostKeyMissing: {
    means: 'The Secret with the ssh host key does not exist, or is not labelled as one.',
    help: 'Create the Secret that sshHostKeySecretRef names, and label it.',
    run: [`kubectl label secret SECRET -n NAMESPACE ${hostKeyLabel}`],
  },
  PreferenceMissing: {
    means: 'The VirtualMachineClusterPreference that it names does not exist.',
    help: 'Create it, or name another; it is looked for every ten seconds until the machine is Failed, then at each audit.',
    run: ['kubectl get virtualmachineclusterpreferences', edit],
  },
  InstancetypeMissing: {
    means: 'The VirtualMachineClusterInstancetype that it names does not exist.',
    help: 'Create it, or name another; it is looked for every ten seconds until the machine is Failed, then at each audit.',
    run: ['kubectl get virtualmachineclusterinstancetypes', edit],
  },
  InstancetypeNotAllowed: {
    means: "The policy's machineInstancetypes does not name its instancetype.",
    help: 'Give cpu and memory in resources, or have a platform admin add the instancetype to the policy.',
    run: [edit],
  },
  NetworkNamedTwice: { means: 'It names a network twice.', ...correctSpec },
  AddressNotUsable: { means: 'An address is not usable on its network.', ...correctSpec },
  AddressInUse: { means: 'Another machine has its address.', ...correctSpec },
  UserNamesCollide: { means: 'Two users would have one login.', ...correctSpec },
  UserRenamed: 'A user has another login than its name, which Linux does not take.',
  Unschedulable: {
    means: 'No node takes it.',
    help: 'Give the cluster a node with what the message names; the machine then starts.',
    run: ['kubectl describe vmi NAME -n NAMESPACE'],
  },
  CrashLoopBackOff: { means: 'It ends as soon as it has started.', ...lookAtGuest },
  GuestNotReady: { means: 'The guest runs and is not ready.', ...lookAtGuest },
  GuestAnswers: 'Its guest answers the check that its spec asks for.',
  GuestStarting: {
    means: 'It runs, and its guest has not answered yet.',
    help: 'Wait for its timeout; if the guest never answers, look at its console: its disk may hold nothing that boots, or its guest has no agent.',
    run: ['virtctl console NAME -n NAMESPACE'],
  },
  GuestNotAnswering: {
    means: 'It runs, and its guest no longer answers; it is not started again unless onFailure says Restart.',
    help: 'Look at its console, or restart it.',
    run: ['virtctl console NAME -n NAMESPACE', 'virtctl restart NAME -n NAMESPACE'],
  },
  GuestNotChecked: {
    means: 'What runs was started before its guest was to be checked.',
    help: 'Restart it to have its guest checked.',
    run: ['virtctl restart NAME -n NAMESPACE'],
  },
  LaunchFailed: { means: 'KubeVirt cannot launch it.', ...lookAtGuest },
  MachineTerminating: "KubeVirt's machine is being deleted; it waits until that is gone.",
  SpecChanged: 'Its spec has changed; the change counts when it restarts.',
  CloudInitChanged: 'Its cloud-init data has changed; the change counts for a new disk.',
} as const satisfies Readonly<Record<string, Row>>;
