import { isValid, type PolicyKey } from '../../shared/policy.ts';
import type { Observed } from './observed.ts';
import { type Standing, waiting } from './stage.ts';

/** What waits while a key of the policy that it depends on does not parse; what runs goes on as it is. */
export interface Unreadable {
  networks: Standing | undefined;
  machines: Standing | undefined;
  containers: Standing | undefined;
}

/** Which stages a key of the policy that does not parse holds up. */
export function unreadable({ workspace, policy }: Observed): Unreadable {
  const { vms = [], containerClusters = [], networks = [] } = workspace.spec;
  const isIgnored = [...vms, ...containerClusters].some(({ ignoreOnDeploy }) => ignoreOnDeploy === true);
  const asksHostPorts = containerClusters
    .flatMap(({ containers }) => containers)
    .some(({ portMappings = [] }) => portMappings.some(({ hostPort }) => hostPort !== undefined));
  const held = (...keys: (PolicyKey | false)[]) => {
    const broken = keys.find((key) => key !== false && !isValid(policy, key));
    return broken ? waiting('InvalidPolicy', `Waiting until the policy's ${broken} parses again.`) : undefined;
  };
  const networksHeld = held(
    networks.length > 0 && workspace.status?.networkProvider === undefined && 'networkProvider',
  );
  return {
    networks: networksHeld,
    machines: networksHeld ?? held(isIgnored && 'ignoreOnDeploy'),
    containers: networksHeld ?? held(isIgnored && 'ignoreOnDeploy', asksHostPorts && 'hostPorts', 'machineFailedAfter'),
  };
}
