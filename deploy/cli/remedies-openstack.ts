import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { editPolicy, type Remedy, waiting } from './remedies.ts';
import { kindOf, type OnOpenStack } from './target.ts';

/** By the reason of the condition Ready, as for images. */
const byReason: Readonly<Record<string, (of: OnOpenStack) => Remedy>> = {
  CredentialsMissing: ({ metadata }) => ({
    help: `Create Secret ${credentialsName} with clouds.yaml: in namespace ${metadata.namespace} for it alone, in ${operatorNamespace} for all that have none.`,
    commands: [
      `kubectl create secret generic ${credentialsName} -n ${metadata.namespace} --from-file=clouds.yaml=FILE`,
    ],
  }),
  CredentialsInvalid: (of) => credentialsOf(of, 'Correct clouds.yaml in the Secret as the message says.'),
  CredentialsRefused: (of) =>
    credentialsOf(of, 'Check that the user in clouds.yaml exists in OpenStack and has a role in its project.'),
  EndpointNotAllowed: () => ({
    help: "Add the line in the message to the policy's openstackEndpoints, if functions may send requests there; they try again by themselves.",
    commands: ['ot-functions policy', editPolicy],
  }),
  Unreachable: (of) =>
    credentialsOf(
      of,
      'Check that the address in clouds.yaml answers from within the cluster; the function tries again by itself.',
    ),
  NetworkMissing: (of) => editOf(of, 'Create the network, or name another.'),
  VolumeMissing: (of) => editOf(of, 'Create the volume, or name another.'),
  VolumeInUse: (of) => editOf(of, 'Detach the volume from the machine that uses it, or name another.'),
  NoBootableDisk: (of) => editOf(of, 'Name a volume with an image as its source.'),
  RootDiskKept: (of) => editOf(of, 'Name the disk that it booted from again, or create another machine.'),
  NoFreeAddresses: (of) => editOf(of, 'Say a cidr.'),
};

/** How to correct an object on OpenStack that is not Ready. */
export function remedyOnOpenStack(target: OnOpenStack): Remedy {
  const reason = conditionOf(target.status?.conditions, 'Ready')?.reason;
  const known = reason === undefined ? undefined : byReason[reason];
  if (known) return known(target);
  const describe = `kubectl describe ${typed(target)}`;
  if (target.status?.phase !== 'Failed') {
    const { help, commands } = waiting(target);
    return { help, commands: [...commands, describe] };
  }
  return {
    help: 'Correct what OpenStack reports in the message; the function tries again by itself.',
    commands: [describe],
  };
}

const editOf = (target: OnOpenStack, help: string): Remedy => ({ help, commands: [`kubectl edit ${typed(target)}`] });

const credentialsOf = ({ metadata: { namespace } }: OnOpenStack, help: string): Remedy => ({
  help,
  commands: [
    `kubectl get secret ${credentialsName} -n ${namespace}`,
    `kubectl get secret ${credentialsName} -n ${operatorNamespace}`,
  ],
});

/** The object as kubectl takes it, with the group: other groups have volumes and machines, too. */
const typed = (target: OnOpenStack) => {
  const kind = kindOf(target);
  return `${kind.includes('.') ? kind : `${kind}.kupenstack.io`} ${target.metadata.name} -n ${target.metadata.namespace}`;
};
