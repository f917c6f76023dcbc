import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import type { Workspace, WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import type { Policy } from '../../../shared/policy.ts';
import { type HostKeys, knownHosts } from './host-keys.ts';
import { hostsFile, hostVarsFile } from './inventory.ts';
import { machineLabel, metadataOf } from './metadata.ts';
import { outcomePlugin } from './outcome-plugin.ts';
import { extraVarsFile, siteFile } from './playbook.ts';
import { deployRolesOf } from './roles-of-machine.ts';

/** The ConfigMap of all Jobs of a workspace: its machines, and their variables. */
export const inventoryName = 'ansible-inventory';

const configMap = (metadata: ReturnType<typeof metadataOf>, data: Readonly<Record<string, string>>) => ({
  apiVersion: ConfigMap.apiVersion,
  kind: ConfigMap.kind,
  metadata,
  data,
});

/** hosts.yml, known_hosts, and host_vars/<vm>.yml with a "." for the "/", which no key can have. */
export const inventoryFor = (workspace: Workspace, policy: Policy, keys: HostKeys) =>
  configMap(metadataOf(workspace, inventoryName), {
    'hosts.yml': hostsFile(workspace, policy),
    ...(policy.values.ansibleCredentials ? { known_hosts: knownHosts(keys, policy) } : {}),
    ...Object.fromEntries((workspace.spec.vms ?? []).map((vm) => [`host_vars.${vm.name}.yml`, hostVarsFile(vm)])),
  });

/** What is run on one machine, with the tasks of those of its roles that the site's ConfigMap has. */
export const projectFor = (
  workspace: Workspace,
  vm: WorkspaceMachine,
  name: string,
  siteRoles: Readonly<Record<string, string>>,
) =>
  configMap(metadataOf(workspace, name, { [machineLabel]: vm.name }), {
    'site.yml': siteFile(vm),
    'outcome.py': outcomePlugin,
    extravars: extraVarsFile(workspace, vm),
    ...Object.fromEntries(rolesIn(vm, siteRoles).map((role) => [taskKey(role), siteRoles[`${role}.yml`] ?? ''])),
  });

/** Where in a project all that is, but for extravars. */
export const projectPaths = (vm: WorkspaceMachine, siteRoles: Readonly<Record<string, string>>) => [
  { key: 'site.yml', path: 'site.yml' },
  { key: 'outcome.py', path: 'callback_plugins/outcome.py' },
  ...rolesIn(vm, siteRoles).map((role) => ({ key: taskKey(role), path: `roles/${role}/tasks/main.yml` })),
];

const rolesIn = (vm: WorkspaceMachine, siteRoles: Readonly<Record<string, string>>) =>
  [...new Set(deployRolesOf(vm).map(({ role }) => role))].filter((role) => Object.hasOwn(siteRoles, `${role}.yml`));

const taskKey = (role: string) => `roles.${role}.yml`;
