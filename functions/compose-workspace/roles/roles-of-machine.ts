import type { WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';

type Roles = NonNullable<NonNullable<WorkspaceMachine['ansible']>['roles']>;

/** A role as a workspace names it; what its variables hold is Ansible's own affair. */
export type Role = NonNullable<Roles['deploy']>[number];

/** The roles of a machine that are run once it is Ready. */
export const deployRolesOf = ({ ansible }: WorkspaceMachine): readonly Role[] => ansible?.roles?.deploy ?? [];

/** The roles that its image was built with. */
export const buildRolesOf = ({ ansible }: WorkspaceMachine): readonly Role[] => ansible?.roles?.build ?? [];

/** Annotation of a machine: the roles that its image was built with. They are not run. */
const builtWithAnnotation = 'pelotech.ot/built-with-roles';

/** The annotation for a machine with such roles. Variables are left out: one may be a password. */
export function buildRecord(vm: WorkspaceMachine): Record<string, string> {
  const roles = buildRolesOf(vm).map(({ role }) => role);
  return roles.length > 0 ? { [builtWithAnnotation]: roles.join(',') } : {};
}
