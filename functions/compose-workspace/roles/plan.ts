import type { Action } from '../../../shared/actions.ts';
import { Job } from '../../../shared/kinds/batch/job.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import type { Component, WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { siteKeyIn } from '../../../shared/workspaces/site-key.ts';
import type { Make } from '../child.ts';
import { deleteExcept } from '../garbage.ts';
import type { Own } from '../observed.ts';
import { isSkipped } from '../skipped.ts';
import { type ComponentStatus, component, failed, type Stage, skipped, waiting } from '../stage.ts';
import { begin, machineOf, machineOfWrite } from './begin.ts';
import { withoutSiteKey } from './credentials.ts';
import { jobNamesOf } from './job-name.ts';
import { machineLabel } from './metadata.ts';
import { unreached } from './reach.ts';
import {
  describeSkipped,
  hasRolesToRun,
  type Roles,
  type RolesFound,
  rolesOf,
  type Skipped,
  unreadablePolicy,
} from './roles.ts';
import { deployRolesOf } from './roles-of-machine.ts';

/** The deploy roles, once the machines are Ready. What ran stays. */
export function rolesStage(found: RolesFound, make: Make, areMachinesReady: boolean): Stage | undefined {
  const { workspace, policy, own, site, keys, runs } = found;
  const vms = (workspace.spec.vms ?? []).filter((vm) => deployRolesOf(vm).length > 0 && !isSkipped(vm, policy));
  if (vms.length === 0) return withoutRoles(own);
  const names = jobNamesOf(workspace, own.machines);
  const begun = (vm: WorkspaceMachine) => runs.get(names.get(vm.name) ?? '');
  const roles = rolesOf(workspace, policy, names, keys, site?.roles);
  if (roles.skippedBecause !== undefined) return skippedRoles(own, vms, roles.skippedBecause);
  if (roles.isBlocked) {
    const components = vms.map((vm) => begun(vm) ?? component('AnsibleRoles', vm.name, unreadablePolicy));
    return { condition: 'AnsibleDeployed', writes: [], components };
  }
  const wanted = vms.filter((vm) => hasRolesToRun(vm, policy));
  const waits = new Map(
    wanted
      .filter((vm) => begun(vm) === undefined)
      .map((vm) => [vm.name, whyNot(found, vm, roles, areMachinesReady)] as const)
      .flatMap(([name, why]) => (why ? [[name, component('AnsibleRoles', name, why)] as const] : [])),
  );
  const { writes, components } = areMachinesReady
    ? begin(found, roles, waits, make)
    : { writes: [], components: new Map<string, Component>() };
  return {
    condition: 'AnsibleDeployed',
    writes: [...(policy.values.ansibleCredentials ? [] : deleteExcept(Secret, own.secrets)), ...writes],
    // A Job reads what is written before it, and starts only after the one it replaces is deleted.
    sequenceOf: machineOfWrite,
    components: wanted.flatMap((vm) => begun(vm) ?? waits.get(vm.name) ?? components.get(vm.name) ?? []),
  };
}

/** Why the roles of a machine do not begin yet. */
function whyNot(
  { workspace, policy, site }: RolesFound,
  vm: WorkspaceMachine,
  { jobs, runners }: Roles,
  areMachinesReady: boolean,
): ComponentStatus | undefined {
  const obstacle = unreached(workspace, policy, vm, runners);
  if (obstacle) return failed(obstacle.reason, obstacle.message);
  if (!areMachinesReady || !jobs.some((job) => machineOf(job) === vm.name)) {
    return waiting('MachinesNotReady', 'Waiting until the machines are Ready.');
  }
  // Without what opens the machines a Job could only wait for it.
  return policy.values.ansibleCredentials && !siteKeyIn(site?.key) ? withoutSiteKey : undefined;
}

/** A workspace without deploy roles: what ran them before is deleted. */
function withoutRoles(own: Own): Stage | undefined {
  const writes = deleted(own, own.jobs, own.configMaps);
  return writes.length > 0 ? { condition: 'AnsibleDeployed', writes, components: [] } : undefined;
}

/** Roles that are not run here: what ran them stays, but for machines that have none any more. */
function skippedRoles(own: Own, vms: readonly WorkspaceMachine[], because: Skipped): Stage {
  const isObsolete = ({ metadata }: KubernetesObject) => {
    const machine = metadata.labels?.[machineLabel];
    return machine !== undefined && !vms.some(({ name }) => name === machine);
  };
  const status = { ...skipped(describeSkipped(because)), reason: because };
  return {
    condition: 'AnsibleSkipped',
    writes: deleted(own, own.jobs.filter(isObsolete), own.configMaps.filter(isObsolete)),
    components: vms.map(({ name }) => component('AnsibleRoles', name, status)),
  };
}

/** The key is kept in the workspace only for Jobs that are to begin. */
const deleted = (own: Own, jobs: Own['jobs'], configMaps: Own['configMaps']): Action[] => [
  ...deleteExcept(Secret, own.secrets),
  ...deleteExcept(Job, jobs),
  ...deleteExcept(ConfigMap, configMaps),
];
