import type { Workspace, WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import type { Policy } from '../../../shared/policy.ts';
import { ansibleFile } from './ansible-file.ts';
import { keyFile, loginFor } from './credentials.ts';
import { deployRolesOf } from './roles-of-machine.ts';

/**
 * The group of the machines that have a role. No machine's name can have a "_", so that none is taken for a group, where
 * `hosts:` would mean others as well.
 */
const groupOf = (role: string) => `role_${role.replace(/\W/g, '_')}`;

/** The address of a machine on the control network, as Ansible reaches it; undefined where none is fixed. */
export const controlAddressOf = ({ interfaces }: WorkspaceMachine, network: string) =>
  interfaces?.find((one) => one.network === network)?.ipAddress?.split('/')[0];

/** The inventory's file of host keys, where a Job has it. */
const knownHostsFile = '/runner/inventory/known_hosts';

const knowingHosts = [
  'StrictHostKeyChecking=yes',
  `UserKnownHostsFile=${knownHostsFile}`,
  'GlobalKnownHostsFile=/dev/null',
]
  .map((option) => `-o ${option}`)
  .join(' ');

/** hosts.yml: all machines of the workspace, how each is reached, and a group for each role that is deployed. */
export function hostsFile({ spec }: Workspace, policy: Policy): string {
  const { values } = policy;
  const login = loginFor(policy);
  const vms = spec.vms ?? [];
  const withRole = Map.groupBy(
    vms.flatMap((vm) =>
      [...new Set(deployRolesOf(vm).map(({ role }) => groupOf(role)))].map((group) => ({ vm, group })),
    ),
    ({ group }) => group,
  );
  return ansibleFile({
    all: {
      vars: {
        ...(login ? { ansible_user: login } : {}),
        ...(values.ansibleCredentials
          ? { ansible_ssh_private_key_file: keyFile, ansible_ssh_common_args: knowingHosts }
          : {}),
      },
      hosts: byName(vms, (vm) => {
        const address = controlAddressOf(vm, values.ansibleControlNetwork);
        return address ? { ansible_host: address } : {};
      }),
      children: Object.fromEntries(
        [...withRole].map(([group, members]) => [
          group,
          {
            hosts: byName(
              members.map(({ vm }) => vm),
              () => ({}),
            ),
          },
        ]),
      ),
    },
  });
}

/** host_vars/<vm>.yml: the variables of all its roles; of two of one name the later role's. */
export const hostVarsFile = (vm: WorkspaceMachine): string =>
  ansibleFile(Object.fromEntries(deployRolesOf(vm).flatMap(({ variables }) => Object.entries(variables ?? {}))));

const byName = <T>(vms: readonly WorkspaceMachine[], of: (vm: WorkspaceMachine) => T) =>
  Object.fromEntries(vms.map((vm) => [vm.name, of(vm)]));
