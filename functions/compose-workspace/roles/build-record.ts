import type { WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { buildRolesOf } from './roles-of-machine.ts';

/** Annotation of a machine: the roles its image was built with, in their order. They are not run. */
export const builtWithAnnotation = 'pelotech.ot/built-with-roles';

/** The annotation for a machine; none where nothing is said. Variables are left out: there may be a password among them. */
export function buildRecord(vm: WorkspaceMachine): Record<string, string> {
  const roles = buildRolesOf(vm).map(({ role }) => role);
  return roles.length > 0 ? { [builtWithAnnotation]: roles.join(',') } : {};
}
