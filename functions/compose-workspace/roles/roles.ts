import type { Workspace, WorkspaceMachine, WorkspaceSpec } from '../../../shared/kinds/pelotech/workspace.ts';
import { isValid, type Policy, type PolicyKey } from '../../../shared/policy.ts';
import type { Inside, Observed, Own } from '../observed.ts';
import { waiting } from '../stage.ts';
import { runnerAddresses } from './attachment.ts';
import { inventoryFor, projectFor } from './config-maps.ts';
import type { HostKeys } from './host-keys.ts';
import { jobFor } from './job.ts';
import { deployRolesOf } from './roles-of-machine.ts';
import type { Runs } from './status.ts';

/** An object that the roles of a machine need: its name says what it is made of. */
export interface RoleObject {
  metadata: {
    name: string;
    labels?: Readonly<Record<string, string>>;
    annotations?: Readonly<Record<string, string>>;
  };
}

/** What decides on the roles of a workspace, and the objects that run them. */
export interface RolesFound extends Pick<Inside, 'jobs' | 'configMaps'> {
  workspace: Workspace;
  policy: Policy;
  site?: Observed['site'];
  keys: HostKeys;
  own: Own;
  runs: Runs;
}

/** Why no roles are run, as the reason of condition AnsibleSkipped. */
export type Skipped = 'NoDeployRoles' | 'External' | 'NoRunnerImage' | 'NotStarted';

/** What has to exist for the deploy roles of a workspace. */
export interface Roles {
  /** One for each machine with deploy roles, whose name is in its label. Begun once that machine is Ready, and never changed. */
  jobs: readonly ReturnType<typeof jobFor>[];
  configMaps: readonly ReturnType<typeof inventoryFor>[];
  /** The addresses that the Jobs have on the control network, by machine. */
  runners: ReadonlyMap<string, string>;
  skippedBecause?: Skipped;
  /** A policy key that roles need does not parse: nothing is begun, and what exists stays. */
  isBlocked?: true;
}

/** The keys of the policy that this reads. */
const roleKeys = [
  'ansible',
  'ansibleRunnerImage',
  'ansibleRolesConfigMap',
  'ansibleControlNetwork',
  'ansibleUser',
  'ansibleCredentials',
  'ansibleTimeout',
  'networkProvider',
  'ignoreOnDeploy',
] as const satisfies readonly PolicyKey[];

/**
 * The Jobs that run the deploy roles, with what they read; `names` has theirs by machine. A Job's name is the same until its
 * roles are to run once more: an own Job with another name is obsolete.
 */
export function rolesOf(
  workspace: Workspace,
  policy: Policy,
  names: ReadonlyMap<string, string>,
  keys: HostKeys,
  siteRoles: Readonly<Record<string, string>> = {},
): Roles {
  const none = { jobs: [], configMaps: [], runners: new Map() };
  if (!isValid(policy, ...roleKeys)) return { ...none, isBlocked: true };
  const skippedBecause = skipReason(workspace.spec, policy);
  if (skippedBecause !== undefined) return { ...none, skippedBecause };
  const runners = runnersOf(workspace.spec, policy);
  const runs = (workspace.spec.vms ?? [])
    .filter((vm) => hasRolesToRun(vm, policy))
    .map((vm) => ({ vm, name: names.get(vm.name) }))
    .flatMap(({ vm, name }) => (name === undefined ? [] : [{ vm, name }]));
  if (runs.length === 0) return { ...none, runners };
  return {
    runners,
    jobs: runs.map((run) => jobFor({ workspace, policy, siteRoles, address: runners.get(run.vm.name), ...run })),
    configMaps: [
      inventoryFor(workspace, policy, keys),
      ...runs.map(({ vm, name }) => projectFor(workspace, vm, name, siteRoles)),
    ],
  };
}

/** The address of the runner of each machine whose roles are run, by its name, as far as the control network has one left. */
function runnersOf(spec: WorkspaceSpec, policy: Policy): ReadonlyMap<string, string> {
  const cidr = spec.networks?.find(({ name }) => name === policy.values.ansibleControlNetwork)?.cidr;
  // Each has its place among all that may be run, so that no address changes while machines come and go.
  const run = (spec.vms ?? []).filter((vm) => hasRolesToRun(vm, policy));
  const addresses = runnerAddresses(spec, cidr, run.length);
  return new Map(addresses.map((address, index) => [run[index]?.name ?? '', address]));
}

/** Why none of the roles are run; undefined where they are. */
export function skipReason({ vms = [] }: WorkspaceSpec, policy: Policy): Skipped | undefined {
  if (!vms.some((vm) => deployRolesOf(vm).length > 0)) return 'NoDeployRoles';
  if (policy.values.ansible === 'External') return 'External';
  if (policy.values.ansibleRunnerImage === undefined) return 'NoRunnerImage';
  return vms.some((vm) => hasRolesToRun(vm, policy)) ? undefined : 'NotStarted';
}

/** A machine that is not started, or not made, accepts no login. */
export const hasRolesToRun = (vm: WorkspaceMachine, { values }: Policy) =>
  deployRolesOf(vm).length > 0 && (vm.ignoreOnDeploy !== true || values.ignoreOnDeploy === 'Start');

export const unreadablePolicy = waiting('InvalidPolicy', 'Waiting until the policy keys for deploy roles are valid.');

/** A machine that has a login of ours, and a host key. */
export const hasKeys = (vm: WorkspaceMachine, { spec }: Workspace, policy: Policy) =>
  policy.values.ansibleCredentials && hasRolesToRun(vm, policy) && skipReason(spec, policy) === undefined;

const skippedWords: Record<Skipped, string> = {
  NoDeployRoles: 'No machine of the workspace has deploy roles.',
  External: "The site runs deploy roles itself, as the policy's ansible: External says.",
  NoRunnerImage: 'Expected the policy to name an image for deploy roles, found none: set ansibleRunnerImage.',
  NotStarted: "No machine with deploy roles is started, because of the policy's ignoreOnDeploy.",
};

/** The reason in a sentence. */
export const describeSkipped = (reason: Skipped) => skippedWords[reason];
