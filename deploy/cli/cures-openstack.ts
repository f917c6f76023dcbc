import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { type Cure, editPolicy, waiting } from './cures.ts';
import { kindOf, type OnOpenStack } from './subject.ts';

/** By the reason word of the condition Ready, as for images. */
const byReason: Readonly<Record<string, (of: OnOpenStack) => Cure>> = {
  CredentialsMissing: ({ metadata }) => ({
    help: `Make Secret ${credentialsName} with clouds.yaml: in namespace ${metadata.namespace} for it alone, in ${operatorNamespace} for all that have none.`,
    commands: [
      `kubectl create secret generic ${credentialsName} -n ${metadata.namespace} --from-file=clouds.yaml=FILE`,
    ],
  }),
  CredentialsInvalid: (of) => credentialsOf(of, 'Mend clouds.yaml in the Secret as the message says.'),
  CredentialsRefused: (of) =>
    credentialsOf(of, 'See that OpenStack knows the login in clouds.yaml, with a role in its project.'),
  EndpointNotAllowed: () => ({
    help: "Add the address to the policy's openstackEndpoints; that alone asks again.",
    commands: ['ot-functions policy', editPolicy],
  }),
  Unreachable: (of) =>
    credentialsOf(
      of,
      'See that the address in clouds.yaml answers from within the cluster; it is asked again by itself.',
    ),
  NetworkMissing: (of) => editOf(of, 'Make the network, or name another.'),
  VolumeMissing: (of) => editOf(of, 'Make the volume, or name another.'),
  VolumeInUse: (of) => editOf(of, 'Take the volume off the machine that has it, or name another.'),
  NoBootableDisk: (of) => editOf(of, 'Name a volume that is filled from an image.'),
  RootDiskKept: (of) => editOf(of, 'Name the disk that it booted from again, or make another machine.'),
  NoFreeAddresses: (of) => editOf(of, 'Say a cidr.'),
};

/** What helps something on OpenStack that is not as it is wanted. */
export function cureOnOpenStack(subject: OnOpenStack): Cure {
  const reason = conditionOf(subject.status?.conditions, 'Ready')?.reason;
  const known = reason === undefined ? undefined : byReason[reason];
  if (known) return known(subject);
  const describe = `kubectl describe ${typed(subject)}`;
  if (subject.status?.phase !== 'Failed') {
    const { help, commands } = waiting(subject);
    return { help, commands: [...commands, describe] };
  }
  return {
    help: 'Its message has what OpenStack says; it is tried again by itself once that is mended.',
    commands: [describe],
  };
}

const editOf = (subject: OnOpenStack, help: string): Cure => ({ help, commands: [`kubectl edit ${typed(subject)}`] });

const credentialsOf = ({ metadata: { namespace } }: OnOpenStack, help: string): Cure => ({
  help,
  commands: [
    `kubectl get secret ${credentialsName} -n ${namespace}`,
    `kubectl get secret ${credentialsName} -n ${operatorNamespace}`,
  ],
});

/** As kubectl takes it, with the group: others have volumes and machines, too. */
const typed = (subject: OnOpenStack) => {
  const kind = kindOf(subject);
  return `${kind.includes('.') ? kind : `${kind}.kupenstack.io`} ${subject.metadata.name} -n ${subject.metadata.namespace}`;
};
