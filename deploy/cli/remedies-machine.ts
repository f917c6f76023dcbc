import { hostKeyLabel, labelAsPassword } from '../../shared/kinds/core/secret.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { correctPolicy, editPolicy, type Remedy } from './remedies.ts';
import { makeSecretOf } from './secrets.ts';

const at = ({ metadata: { name, namespace } }: VirtualMachine) => `${name} -n ${namespace}`;
const edit = (machine: VirtualMachine) => `kubectl edit otvm ${at(machine)}`;

const rootDisk = ({ status, metadata: { namespace } }: VirtualMachine) =>
  `${status?.rootDisk?.name ?? 'NAME'} -n ${namespace}`;

const correctSpec = (machine: VirtualMachine): Remedy => ({
  help: 'Correct in its spec what its message names; the machine then continues by itself.',
  commands: [edit(machine)],
});

const cloneAgain = (machine: VirtualMachine): Remedy => ({
  help: 'Delete the DataVolume of its root disk: it is cloned again, without what was written to it.',
  commands: [`kubectl describe dv ${rootDisk(machine)}`, `kubectl delete dv ${rootDisk(machine)}`],
});

const lookAtGuest = (machine: VirtualMachine): Remedy => ({
  help: 'Find out from KubeVirt what keeps the guest; the machine recovers by itself.',
  commands: [
    `kubectl describe vmi ${at(machine)}`,
    `kubectl get events -n ${machine.metadata.namespace} --field-selector type=Warning`,
  ],
});

/** For each Secret that users name; which of them is missing only the message says. */
function makePasswords({ metadata: { namespace = '' }, spec: { users = [] } }: VirtualMachine): string[] {
  const refs = users.flatMap(({ passwordSecretRef }) => passwordSecretRef ?? []).filter(({ key }) => isKey.test(key));
  return [...Map.groupBy(refs, ({ name }) => name)].flatMap(([name, keys]) => [
    makeSecretOf([...new Set(keys.map(({ key }) => key))], { namespace, name }),
    labelAsPassword(name, namespace),
  ]);
}

/** What Kubernetes takes as a key of a Secret; a shell would run what else an author writes. */
const isKey = /^[-._a-zA-Z0-9]+$/;

/** By the reason of the condition Ready of the machine: no message is parsed. */
const byReason: Readonly<Record<string, (machine: VirtualMachine) => Remedy>> = {
  PasswordSecretMissing: (machine) => ({
    help: 'Create the Secret that its message names, with the password of each key in a FILE, and label it.',
    commands: makePasswords(machine),
  }),
  HostKeyMissing: ({ metadata: { namespace }, spec: { sshHostKeySecretRef } }) => ({
    help: 'Create the Secret that sshHostKeySecretRef names, and label it.',
    commands: [`kubectl label secret ${sshHostKeySecretRef?.name ?? 'NAME'} -n ${namespace} ${hostKeyLabel}`],
  }),
  NetworkMissing: (machine) => ({
    help: 'Create the NetworkAttachmentDefinition that its message names, or name one that exists; the machine then continues by itself.',
    commands: ['kubectl get network-attachment-definitions -A', edit(machine)],
  }),
  MultusMissing: (machine) => ({
    help: 'Install Multus on the cluster, or take the networks out of the machine.',
    commands: [edit(machine)],
  }),
  NetworkNotAllowed: (machine) => ({
    help: `Name a network of ${machine.metadata.namespace}, or have a platform admin add the other namespace to the policy's machineNetworks.`,
    commands: [edit(machine), editPolicy],
  }),
  NetworkNamedTwice: correctSpec,
  AddressNotUsable: correctSpec,
  AddressInUse: correctSpec,
  UserNamesCollide: correctSpec,
  DiskFailed: cloneAgain,
  ClaimGone: cloneAgain,
  CloneFailed: (machine) => ({
    help: 'Find out from CDI what keeps the clone of its root disk; the machine recovers by itself.',
    commands: [`kubectl describe dv ${rootDisk(machine)}`],
  }),
  CrashLoopBackOff: lookAtGuest,
  GuestNotReady: lookAtGuest,
  LaunchFailed: lookAtGuest,
  InvalidPolicy: correctPolicy,
};

/** How to correct a machine that waits for a user; undefined if the reason says no more than its message. */
export const remedyForMachineReason = (machine: VirtualMachine, reason: string | undefined): Remedy | undefined =>
  reason === undefined ? undefined : byReason[reason]?.(machine);
