import type { User, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { linuxLoginOf } from '../../../shared/machines/linux-login.ts';
import { isValid } from '../../../shared/policy.ts';
import type { ComponentStatus } from '../stage.ts';
import { loginFor, withoutSiteKey } from './credentials.ts';
import { hostKeysName } from './host-keys.ts';
import { hasKeys, type RolesFound, unreadablePolicy } from './roles.ts';
import { deployRolesOf } from './roles-of-machine.ts';

/** The keys of the policy that say who runs the roles of machines, and as whom. */
export const loginKeys = [
  'ansible',
  'ansibleRunnerImage',
  'ansibleUser',
  'ansibleCredentials',
  'ignoreOnDeploy',
] as const;

/** What of a machine's spec depends on who runs its roles. */
export type Access = Pick<VirtualMachine['spec'], 'users' | 'sshHostKeySecretRef'>;

/**
 * The users of a machine, with the user that Ansible logs in as where its roles are run; a user of that login gets the key, and
 * keeps its own sudo; and its host key, which Ansible expects. Or why that cannot be said yet: cloud-init makes users at the first start only.
 */
export function accessTo(
  { workspace, policy }: Pick<RolesFound, 'workspace' | 'policy'>,
  vm: WorkspaceMachine,
  key: string | undefined,
): Access | { because: ComponentStatus } {
  const asSaid = { users: vm.users };
  if (deployRolesOf(vm).length === 0) return asSaid;
  if (!isValid(policy, ...loginKeys)) return { because: unreadablePolicy };
  if (!hasKeys(vm, workspace, policy)) return asSaid;
  if (key === undefined) return { because: withoutSiteKey };
  const { users = [] } = vm;
  const login = loginFor(policy);
  const isTheirs = ({ name }: User) => linuxLoginOf(name) === login;
  const withKey = (user: User): User => ({ ...user, ssh_authorized_keys: [...(user.ssh_authorized_keys ?? []), key] });
  return {
    sshHostKeySecretRef: { name: hostKeysName, key: vm.name },
    users: users.some(isTheirs)
      ? users.map((user) => (isTheirs(user) ? withKey(user) : user))
      : [...users, withKey({ name: login ?? '', sudo: 'ALL=(ALL) NOPASSWD:ALL' })],
  };
}
