import type { Action } from '../../../shared/actions.ts';
import { Job } from '../../../shared/kinds/batch/job.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import type { Component, WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { owns } from '../../../shared/kubernetes/ownership.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import { type Child, type Made, make } from '../child.ts';
import type { Observed } from '../observed.ts';
import { isSkipped } from '../skipped.ts';
import { component, failed, type Stage, type Standing, skipped, standingOf, waiting } from '../stage.ts';
import { credentialsFor, siteCredentials } from './credentials.ts';
import { jobName } from './job-name.ts';
import { machineLabel } from './metadata.ts';
import { unreached } from './reach.ts';
import { describeSkipped, hasRolesToRun, type RoleObject, type Roles, rolesOf, type Skipped } from './roles.ts';
import { deployRolesOf } from './roles-of-machine.ts';
import { standingOf as standingOfRoles } from './status.ts';

/** The deploy roles, once the machines are Ready: what ran stays, what is wanted no more goes. */
export function rolesStage(observed: Observed, areMachinesReady: boolean): Stage | undefined {
  const { workspace, policy, inside, site } = observed;
  const vms = (workspace.spec.vms ?? []).filter((vm) => deployRolesOf(vm).length > 0 && !isSkipped(vm, policy));
  if (vms.length === 0) return gone(observed);
  const own = (inside?.machines ?? []).filter((machine) => owns(workspace, machine));
  const roles = rolesOf(workspace, policy, own, site?.roles);
  if (roles.skippedBecause !== undefined) return notRun(observed, vms, roles.skippedBecause);
  const wanted = roles.isHeld ? vms : vms.filter((vm) => hasRolesToRun(vm, policy));
  const held = heldUp(observed, wanted, roles, areMachinesReady);
  const begun =
    areMachinesReady && !roles.isHeld ? begin(observed, roles, held) : { writes: [], components: new Map() };
  return {
    condition: 'AnsibleDeployed',
    writes: [...(roles.isHeld || policy.values.ansibleCredentials ? [] : takenBack(observed)), ...begun.writes],
    components: wanted.flatMap((vm) => {
      const job = jobOf(observed, vm);
      if (job) return component('AnsibleRoles', job.metadata.name, standingOfJob(observed, job));
      const why = held.get(vm.name);
      return why ? component('AnsibleRoles', vm.name, why) : (begun.components.get(vm.name) ?? []);
    }),
  };
}

/** Where there are no roles any more, what ran them goes. */
function gone(observed: Observed): Stage | undefined {
  const writes = [
    ...takenBack(observed),
    ...unwanted(observed, Job, observed.inside?.jobs, []),
    ...unwanted(observed, ConfigMap, observed.inside?.configMaps, []),
  ];
  return writes.length > 0 ? { condition: 'AnsibleDeployed', writes, components: [] } : undefined;
}

function notRun(observed: Observed, vms: readonly WorkspaceMachine[], because: Skipped): Stage {
  const standing = { ...skipped(describeSkipped(because)), reason: because };
  return {
    condition: 'AnsibleSkipped',
    writes: [...takenBack(observed), ...ofOthers(observed, vms)],
    components: vms.map(({ name }) => component('AnsibleRoles', name, standing)),
  };
}

/** What ran the roles of machines that have none any more. */
function ofOthers(observed: Observed, vms: readonly WorkspaceMachine[]): Action[] {
  const { jobs = [], configMaps = [] } = observed.inside ?? {};
  const isAnothers = ({ metadata }: KubernetesObject) => {
    const name = metadata.labels?.[machineLabel];
    return name !== undefined && !vms.some((vm) => vm.name === name);
  };
  return [
    ...unwanted(observed, Job, jobs.filter(isAnothers), []),
    ...unwanted(observed, ConfigMap, configMaps.filter(isAnothers), []),
  ];
}

const copiesIn = ({ site }: Observed) => (site?.copy ? [site.copy] : []);

/** Where no Job is to be begun with the site's credentials they are no longer kept in the workspace. */
const takenBack = (observed: Observed) => unwanted(observed, Secret, copiesIn(observed), []);

/** The Job of a machine's present roles, once it is there: whatever comes after, it ran or runs. */
function jobOf({ workspace, inside }: Observed, vm: WorkspaceMachine): Job | undefined {
  const machine = inside?.machines.find(({ metadata }) => metadata.name === vm.name);
  const name = machine && owns(workspace, machine) ? jobName(workspace, vm, machine.metadata.uid) : undefined;
  const job = inside?.jobs.find(({ metadata }) => metadata.name === name);
  return job && owns(workspace, job) && job.metadata.deletionTimestamp === undefined ? job : undefined;
}

/** Why the roles of a machine are not begun yet, by its name; nothing holds up a Job that is there. */
function heldUp(
  observed: Observed,
  vms: readonly WorkspaceMachine[],
  { jobs, isHeld }: Roles,
  areMachinesReady: boolean,
): ReadonlyMap<string, Standing> {
  const whyNot = (vm: WorkspaceMachine): Standing | undefined => {
    if (isHeld)
      return waiting('PolicyInvalid', 'Waiting until the keys of the policy that say how roles are run parse again.');
    const obstacle = unreached(observed.workspace.spec, observed.policy, vm);
    if (obstacle) return failed(obstacle.reason, obstacle.message);
    return areMachinesReady && jobs.some((job) => machineOf(job) === vm.name)
      ? lackingCredentials(observed)
      : waiting('MachinesNotReady', 'Waiting until the machines are Ready.');
  };
  return new Map(
    vms
      .filter((vm) => jobOf(observed, vm) === undefined)
      .flatMap((vm) => {
        const why = whyNot(vm);
        return why ? [[vm.name, why] as const] : [];
      }),
  );
}

/** Without what opens the machines a Job could only wait for it. */
function lackingCredentials({ policy, site }: Observed): Standing | undefined {
  if (!policy.values.ansibleCredentials || site?.credentials) return undefined;
  const message = `Expected Secret ${operatorNamespace}/${siteCredentials} (policy key ansibleCredentials), found none; make it.`;
  return waiting('CredentialsMissing', message);
}

/** The Jobs that nothing holds up, after what they read: what this pass writes, and how those of each machine stand. */
function begin(
  observed: Observed,
  { jobs, configMaps }: Roles,
  held: ReadonlyMap<string, Standing>,
): { writes: Action[]; components: ReadonlyMap<string, Component> } {
  const { workspace, policy, inside, site } = observed;
  const isFree = (object: RoleObject) => !held.has(machineOf(object));
  const free = jobs.filter(isFree);
  const credentials = credentialsFor(workspace, policy, site?.credentials);
  const copies = credentials ? [makeOnce(observed, childOf(observed, Secret, credentials), copiesIn(observed))] : [];
  const maps = configMaps.filter(isFree);
  const inputs = [
    ...copies,
    ...maps.map((map) => makeOnce(observed, childOf(observed, ConfigMap, map), inside?.configMaps)),
  ];
  const runs = free.map((job) => ({ job, made: makeOnce(observed, childOf(observed, Job, job), inside?.jobs) }));
  const made = free.length > 0 ? [...inputs, ...runs.map((run) => run.made)] : [];
  return {
    writes: [
      ...unwanted(observed, Job, inside?.jobs, jobs),
      ...made.flatMap(({ writes }) => writes),
      ...unwanted(observed, ConfigMap, inside?.configMaps, configMaps),
    ],
    components: new Map(
      runs.map((run) => {
        const standing = standingOf([...inputs, run.made]) ?? standingOfRoles(undefined, undefined);
        return [machineOf(run.job), component('AnsibleRoles', run.job.metadata.name, standing)];
      }),
    ),
  };
}

/** The machine that a Job, or its ConfigMap, is for. */
const machineOf = ({ metadata }: RoleObject) => metadata.labels?.[machineLabel] ?? '';

const childOf = ({ workspace }: Observed, resource: Resource, { metadata, ...fields }: RoleObject): Child => {
  const { apiVersion: _version, kind: _kind, ...rest } = fields as Record<string, unknown>;
  const { name, labels, annotations } = metadata;
  return {
    resource,
    ref: { namespace: namespaceOf(workspace.metadata.name), name },
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    fields: rest,
  };
};

/** A Job never changes: another one has another name. */
function makeOnce(observed: Observed, child: Child, among: readonly KubernetesObject[] | undefined): Made {
  const found = among?.find(({ metadata }) => metadata.name === child.ref.name);
  const made = make(observed, child, found);
  return made.found && child.resource === Job ? { ...made, writes: [] } : made;
}

const unwanted = (
  { workspace }: Observed,
  resource: Resource,
  found: readonly KubernetesObject[] | undefined,
  wanted: readonly RoleObject[],
): Action[] =>
  (found ?? [])
    .filter((object) => owns(workspace, object) && object.metadata.deletionTimestamp === undefined)
    .filter(({ metadata }) => !wanted.some((one) => one.metadata.name === metadata.name))
    .map((of): Action => ({ do: 'delete', resource, of }));

/** Of several Pods of a Job the newest says how it goes. */
function standingOfJob({ inside }: Observed, job: Job): Standing {
  const pods = (inside?.pods ?? [])
    .filter((pod) => owns(job, pod))
    .sort((a, b) => Date.parse(b.metadata.creationTimestamp) - Date.parse(a.metadata.creationTimestamp));
  return standingOfRoles(job, pods[0]);
}
