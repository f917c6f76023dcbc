import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { isValid, type Policy, type PolicyKey } from '../../shared/policy.ts';
import type { Gate } from './gate.ts';
import { waiting } from './stage.ts';

/** What waits while a key of the policy that it depends on does not parse; what already runs is unaffected. */
export function policyGates({ spec, status }: Workspace, policy: Policy) {
  const { vms = [], containerClusters = [], networks = [] } = spec;
  const isIgnored = [...vms, ...containerClusters].some(({ ignoreOnDeploy }) => ignoreOnDeploy === true);
  const asksHostPorts = containerClusters
    .flatMap(({ containers }) => containers)
    .some(({ portMappings = [] }) => portMappings.some(({ hostPort }) => hostPort !== undefined));
  const gateOf = (...keys: (PolicyKey | false)[]): Gate | undefined => {
    const broken = keys.find((key) => key !== false && !isValid(policy, key));
    const message = `Waiting until the policy's ${broken} parses again.`;
    return broken ? { allow: 'nothing', because: waiting('InvalidPolicy', message) } : undefined;
  };
  const unknownProvider = gateOf(networks.length > 0 && status?.networkProvider === undefined && 'networkProvider');
  return {
    networks: unknownProvider,
    machines: unknownProvider ?? gateOf(isIgnored && 'ignoreOnDeploy'),
    containers:
      unknownProvider ?? gateOf(isIgnored && 'ignoreOnDeploy', asksHostPorts && 'hostPorts', 'machineFailedAfter'),
  };
}
