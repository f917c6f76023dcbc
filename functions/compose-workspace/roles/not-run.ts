import type { Action } from '../../../shared/actions.ts';
import { Job } from '../../../shared/kinds/batch/job.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import type { WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { deleteExcept } from '../garbage.ts';
import type { Own } from '../observed.ts';
import { component, type Stage, skipped } from '../stage.ts';
import { machineLabel } from './metadata.ts';
import { describeSkipped, type Skipped } from './roles.ts';

/** A workspace without deploy roles: what ran them before is deleted. */
export function withoutRoles(own: Own): Stage | undefined {
  const writes = deleted(own, own.jobs, own.configMaps);
  return writes.length > 0 ? { condition: 'AnsibleDeployed', writes, components: [] } : undefined;
}

/** Roles that are not run here: what ran them stays, but for machines that have none any more. */
export function skippedRoles(own: Own, vms: readonly WorkspaceMachine[], because: Skipped): Stage {
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
