import type { WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { buildRolesOf } from './roles-of-machine.ts';

/** Annotation of a machine: the roles that its image was built with. They are not run. */
const builtWithAnnotation = 'pelotech.ot/built-with-roles';

/** The annotation for a machine with such roles. Variables are left out: one may be a password. */
export function buildRecord(vm: WorkspaceMachine): Record<string, string> {
  const roles = buildRolesOf(vm).map(({ role }) => role);
  return roles.length > 0 ? { [builtWithAnnotation]: roles.join(',') } : {};
}
