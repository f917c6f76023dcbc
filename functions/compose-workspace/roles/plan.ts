import { Secret } from '../../../shared/kinds/core/secret.ts';
import type { Component, WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { siteKeyIn } from '../../../shared/workspaces/site-key.ts';
import { type Make, named } from '../child.ts';
import { unwanted } from '../garbage.ts';
import { isSkipped } from '../skipped.ts';
import { component, failed, type Stage, type Standing, waiting } from '../stage.ts';
import { begin, machineOf, machineOfWrite } from './begin.ts';
import { withoutSiteKey } from './credentials.ts';
import { jobNamesOf } from './job-name.ts';
import { skippedRoles, withoutRoles } from './not-run.ts';
import { unreached } from './reach.ts';
import { hasRolesToRun, type Roles, type RolesFound, rolesOf, unreadablePolicy } from './roles.ts';
import { deployRolesOf } from './roles-of-machine.ts';
import { newestPodOf, standingOfJob } from './status.ts';

/** The deploy roles, once the machines are Ready. What ran stays. */
export function rolesStage(found: RolesFound, make: Make, areMachinesReady: boolean): Stage | undefined {
  const { workspace, policy, own, site, keys } = found;
  const vms = (workspace.spec.vms ?? []).filter((vm) => deployRolesOf(vm).length > 0 && !isSkipped(vm, policy));
  if (vms.length === 0) return withoutRoles(own);
  const names = jobNamesOf(workspace, own.machines);
  const begun = (vm: WorkspaceMachine) => begunAs(found, names.get(vm.name));
  const roles = rolesOf(workspace, policy, names, keys, site?.roles);
  if (roles.skippedBecause !== undefined) return skippedRoles(own, vms, roles.skippedBecause);
  if (roles.isHeld) {
    const components = vms.map((vm) => begun(vm) ?? component('AnsibleRoles', vm.name, unreadablePolicy));
    return { condition: 'AnsibleDeployed', writes: [], components };
  }
  const wanted = vms.filter((vm) => hasRolesToRun(vm, policy));
  const runs = new Map(wanted.map((vm) => [vm.name, begun(vm)]));
  const waits = new Map(
    wanted
      .filter((vm) => runs.get(vm.name) === undefined)
      .map((vm) => [vm.name, whyNot(found, vm, roles, areMachinesReady)] as const)
      .flatMap(([name, why]) => (why ? [[name, component('AnsibleRoles', name, why)] as const] : [])),
  );
  const beginning = areMachinesReady
    ? begin(found, roles, waits, make)
    : { writes: [], components: new Map<string, Component>() };
  return {
    condition: 'AnsibleDeployed',
    writes: [...(policy.values.ansibleCredentials ? [] : unwanted(Secret, own.secrets)), ...beginning.writes],
    // A Job reads what is written before it, and starts only after the one it replaces is deleted.
    sequenceOf: machineOfWrite,
    components: wanted.flatMap(
      (vm) => runs.get(vm.name) ?? waits.get(vm.name) ?? beginning.components.get(vm.name) ?? [],
    ),
  };
}

/** The Job of a machine's present roles, once it exists: whatever comes after, it ran or runs. */
function begunAs({ own, pods }: RolesFound, name: string | undefined): Component | undefined {
  const job = name === undefined ? undefined : named(own.jobs, name);
  if (!job || job.metadata.deletionTimestamp !== undefined) return undefined;
  return component('AnsibleRoles', job.metadata.name, standingOfJob(job, newestPodOf(job, pods)));
}

/** Why the roles of a machine do not begin yet. */
function whyNot(
  { workspace, policy, site }: RolesFound,
  vm: WorkspaceMachine,
  { jobs, runners }: Roles,
  areMachinesReady: boolean,
): Standing | undefined {
  const obstacle = unreached(workspace.spec, policy, vm, runners);
  if (obstacle) return failed(obstacle.reason, obstacle.message);
  if (!areMachinesReady || !jobs.some((job) => machineOf(job) === vm.name)) {
    return waiting('MachinesNotReady', 'Waiting until the machines are Ready.');
  }
  // Without what opens the machines a Job could only wait for it.
  return policy.values.ansibleCredentials && !siteKeyIn(site?.key) ? withoutSiteKey : undefined;
}
