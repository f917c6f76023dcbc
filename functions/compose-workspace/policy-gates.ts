import { isValid, type PolicyKey } from '../../shared/policy.ts';
import type { Gate } from './gate.ts';
import type { Observed } from './observed.ts';
import { waiting } from './stage.ts';

/** What waits while a key of the policy that it depends on does not parse; what already runs is unaffected. */
export function policyGates({ workspace, policy }: Observed) {
  const { vms = [], containerClusters = [], networks = [] } = workspace.spec;
  const isIgnored = [...vms, ...containerClusters].some(({ ignoreOnDeploy }) => ignoreOnDeploy === true);
  const asksHostPorts = containerClusters
    .flatMap(({ containers }) => containers)
    .some(({ portMappings = [] }) => portMappings.some(({ hostPort }) => hostPort !== undefined));
  const gateOf = (...keys: (PolicyKey | false)[]): Gate | undefined => {
    const broken = keys.find((key) => key !== false && !isValid(policy, key));
    const message = `Waiting until the policy's ${broken} parses again.`;
    return broken ? { allow: 'nothing', because: waiting('InvalidPolicy', message) } : undefined;
  };
  const unknownProvider = gateOf(
    networks.length > 0 && workspace.status?.networkProvider === undefined && 'networkProvider',
  );
  return {
    networks: unknownProvider,
    machines: unknownProvider ?? gateOf(isIgnored && 'ignoreOnDeploy'),
    containers:
      unknownProvider ?? gateOf(isIgnored && 'ignoreOnDeploy', asksHostPorts && 'hostPorts', 'machineFailedAfter'),
  };
}
