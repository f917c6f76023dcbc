import type { Workspace, WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { ansibleFile } from './ansible-file.ts';
import { deployRolesOf } from './roles-of-machine.ts';

/** How long a Ready machine may take until it accepts a login: KubeVirt's Ready does not mean booted. */
const connectionTimeoutSeconds = 600;

/**
 * site.yml: one play on one machine, with its roles. A role has its variables beside its name, too: so they override those of
 * the role itself, and two roles may give one name two values.
 */
export const siteFile = (vm: WorkspaceMachine): string =>
  ansibleFile([
    {
      name: `Deploy the roles of ${vm.name}`,
      hosts: vm.name,
      gather_facts: false,
      pre_tasks: [
        {
          name: 'Wait until the machine lets us in',
          'ansible.builtin.wait_for_connection': { timeout: connectionTimeoutSeconds },
        },
        { name: 'Gather facts', 'ansible.builtin.setup': {} },
      ],
      roles: deployRolesOf(vm).map(({ role, variables }) =>
        variables && Object.keys(variables).length > 0 ? { role, vars: variables } : { role },
      ),
    },
  ]);

/** env/extravars: where a role runs. Extra variables override all others, so those that a role of this machine defines are left out. */
export function extraVarsFile(workspace: Workspace, vm: WorkspaceMachine): string {
  const given = new Set(deployRolesOf(vm).flatMap(({ variables }) => Object.keys(variables ?? {})));
  const variables = { workspace: workspace.metadata.name, vm: vm.name, version: vm.version };
  return ansibleFile(
    Object.fromEntries(Object.entries(variables).filter(([name, value]) => value !== undefined && !given.has(name))),
  );
}
