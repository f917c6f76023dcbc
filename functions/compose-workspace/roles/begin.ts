import type { Action } from '../../../shared/actions.ts';
import { Job } from '../../../shared/kinds/batch/job.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import type { Component } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { type Child, type Made, type Make, named } from '../child.ts';
import { deleteExcept } from '../garbage.ts';
import { component, statusOf } from '../stage.ts';
import { credentialsFor } from './credentials.ts';
import { machineLabel } from './metadata.ts';
import type { RoleObject, Roles, RolesFound } from './roles.ts';

/** The Jobs of the machines that do not wait, after what they read; the status of those that exist, by machine. */
export function begin(
  found: RolesFound,
  { jobs, configMaps }: Roles,
  waits: ReadonlyMap<string, unknown>,
  make: Make,
): { writes: Action[]; components: ReadonlyMap<string, Component> } {
  const { workspace, policy, own, site } = found;
  const mayBegin = (object: RoleObject) => !waits.has(machineOf(object));
  const credentials = credentialsFor(workspace, policy, site);
  const inputs = [
    ...(credentials ? [make(childOf(Secret, credentials), site?.credentials)] : []),
    ...configMaps
      .filter(mayBegin)
      .map((map) => make(childOf(ConfigMap, map), named(found.configMaps, map.metadata.name))),
  ];
  const runs = jobs.filter(mayBegin).map((job) => ({ job, made: makeOnce(make, job, found.jobs) }));
  // While the site's key is gone what runs keeps what it has.
  const isKeyMissing = policy.values.ansibleCredentials && !credentials;
  const made = runs.length > 0 && !isKeyMissing ? [...inputs, ...runs.map((run) => run.made)] : [];
  return {
    writes: [
      ...deleteExcept(Job, own.jobs, namesOf(jobs)),
      ...made.flatMap(({ writes }) => writes),
      ...deleteExcept(ConfigMap, own.configMaps, namesOf(configMaps)),
    ],
    components: new Map(
      runs.flatMap((run) => {
        const status = statusOf([...inputs, run.made]);
        const machine = machineOf(run.job);
        return status ? [[machine, component('AnsibleRoles', run.job.metadata.name, status)]] : [];
      }),
    ),
  };
}

/** The machine that a Job, or its ConfigMap, is for. */
export const machineOf = ({ metadata }: RoleObject) => metadata.labels?.[machineLabel] ?? '';

/** The machine that a Job or ConfigMap is written for; undefined for what all of them read. */
export const machineOfWrite = (write: Action): string | undefined => {
  const object = 'of' in write ? write.of : 'object' in write ? write.object : undefined;
  return (object as KubernetesObject | undefined)?.metadata.labels?.[machineLabel];
};

const namesOf = (objects: readonly RoleObject[]) => new Set(objects.map(({ metadata }) => metadata.name));

const childOf = (resource: Resource, { metadata, ...fields }: RoleObject): Child => {
  const { apiVersion: _version, kind: _kind, ...rest } = fields as Record<string, unknown>;
  const { name, labels, annotations } = metadata;
  return { resource, name, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}), fields: rest };
};

/** A Job never changes: another one has another name. */
function makeOnce(make: Make, job: RoleObject, jobs: readonly KubernetesObject[]): Made {
  const made = make(childOf(Job, job), named(jobs, job.metadata.name));
  return made.found ? { ...made, writes: [] } : made;
}
