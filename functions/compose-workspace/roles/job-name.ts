import type { Workspace, WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { digestOf } from '../../../shared/kubernetes/names.ts';
import { inOrder } from '../../../shared/kubernetes/status-changes.ts';
import { deployRolesOf } from './roles-of-machine.ts';

/** Annotation of a workspace: a new value runs all deploy roles once more. */
const rolesRequested = 'pelotech.ot/roles-requested';

/** A machine of a workspace that there is. */
export interface Machine {
  metadata: { name: string; uid: string };
}

/** The names of the Jobs of the machines that exist and have deploy roles, by machine. */
export function jobNamesOf(workspace: Workspace, machines: readonly Machine[]): ReadonlyMap<string, string> {
  const uids = new Map(machines.map(({ metadata: { name, uid } }) => [name, uid]));
  return new Map(
    (workspace.spec.vms ?? [])
      .filter((vm) => deployRolesOf(vm).length > 0)
      .map((vm) => ({ vm, uid: uids.get(vm.name) }))
      .flatMap(({ vm, uid }) => (uid === undefined ? [] : [[vm.name, jobName(workspace, vm, uid)]])),
  );
}

/**
 * The name of a Job, the same until its roles are to run again: it changes with the roles and their variables, with a recreated
 * machine, and when a user asks; with nothing else, such as the policy's image.
 */
export function jobName(workspace: Workspace, vm: WorkspaceMachine, machineUid: string): string {
  const asked = workspace.metadata.annotations?.[rolesRequested];
  const roles = deployRolesOf(vm).map(({ role, variables }) => [role, inOrder(variables ?? {})]);
  // The name of a Job is a label of its Pods, and its Pods' host name: 63 characters, no dot.
  const hash = digestOf([machineUid, roles, ...(asked === undefined ? [] : [asked])]).slice(0, 10);
  return `${vm.name.replace(/\./g, '-').slice(0, 46).replace(/-+$/, '')}-roles-${hash}`;
}
