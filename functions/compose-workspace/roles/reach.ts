import type { Workspace, WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import type { Policy } from '../../../shared/policy.ts';
import type { Cause } from '../../../shared/reasons/reason.ts';
import { controlAddressOf } from './inventory.ts';
import { hasRolesToRun } from './roles.ts';

/** Why the deploy roles of a machine cannot be begun where the policy says that they come from; undefined where they can. */
export function unreached(
  workspace: Workspace,
  policy: Policy,
  vm: WorkspaceMachine,
  runners: ReadonlyMap<string, string>,
): Cause | undefined {
  const network = policy.values.ansibleControlNetwork;
  if (controlAddressOf(vm, network) === undefined) {
    const message = `Expected an ipAddress on network ${network}, where its deploy roles come from, found none.`;
    return { reason: 'NoControlAddress', message };
  }
  if (runners.has(vm.name)) return undefined;
  const cidr = workspace.spec.networks?.find(({ name }) => name === network)?.cidr;
  const run = (workspace.spec.vms ?? []).filter((one) => hasRolesToRun(one, policy));
  const message = `Expected ${run.length + 1} free addresses on network ${network}, one for each machine with deploy roles and one for a gateway, found fewer in ${cidr}.`;
  return { reason: 'NoFreeAddress', message };
}
