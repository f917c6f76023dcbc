import type { User } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { linuxLoginOf } from '../../../shared/machines/linux-login.ts';
import { isValid } from '../../../shared/policy.ts';
import type { Standing } from '../stage.ts';
import { keyFor, loginFor, withoutSiteKey } from './credentials.ts';
import { hasRolesToRun, type RolesFound, skipReason, unreadablePolicy } from './roles.ts';
import { deployRolesOf } from './roles-of-machine.ts';

/**
 * The users of a machine, with the one that Ansible logs in as where its roles are run; a user of that login gets the key, and
 * keeps its own sudo. Or why that cannot be said yet: cloud-init makes users at the first start only.
 */
export function usersFor(
  { workspace, policy, site }: Pick<RolesFound, 'workspace' | 'policy' | 'site'>,
  vm: WorkspaceMachine,
): { users: User[] | undefined } | { because: Standing } {
  const asSaid = { users: vm.users };
  if (deployRolesOf(vm).length === 0) return asSaid;
  if (!isValid(policy, 'ansible', 'ansibleRunnerImage', 'ansibleUser', 'ansibleCredentials', 'ignoreOnDeploy'))
    return { because: unreadablePolicy };
  const isRun = skipReason(workspace.spec, policy) === undefined && hasRolesToRun(vm, policy);
  if (!isRun || !policy.values.ansibleCredentials) return asSaid;
  const key = keyFor(workspace, site)?.publicKey;
  if (key === undefined) return { because: withoutSiteKey };
  const { users = [] } = vm;
  const login = loginFor(policy);
  const isTheirs = ({ name }: User) => linuxLoginOf(name) === login;
  const withKey = (user: User): User => ({ ...user, ssh_authorized_keys: [...(user.ssh_authorized_keys ?? []), key] });
  return {
    users: users.some(isTheirs)
      ? users.map((user) => (isTheirs(user) ? withKey(user) : user))
      : [...users, withKey({ name: login ?? '', sudo: 'ALL=(ALL) NOPASSWD:ALL' })],
  };
}
