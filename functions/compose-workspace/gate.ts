import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { isValid, type Policy, type PolicyKey } from '../../shared/policy.ts';
import { type ComponentStatus, type Stage, waitingForPolicy } from './stage.ts';

/** What a stage may not write in this reconcile, and what it waits for. */
export interface Gate {
  allow: 'existing' | 'nothing';
  because: ComponentStatus;
}

/** The stage with the writes that all gates allow; what it cannot create waits for the first of them. */
export function gated(stage: Stage, ...gates: readonly (Gate | undefined)[]): Stage {
  return gates.filter((gate) => gate !== undefined).reduce(apply, stage);
}

const apply = (stage: Stage, { allow, because }: Gate): Stage => ({
  ...stage,
  writes: allow === 'existing' ? stage.writes.filter((write) => write.do !== 'create') : [],
  components: stage.components.map((one) => (one.reason === 'Creating' ? { ...one, ...because } : one)),
});

/** What waits while a key of the policy that it depends on does not parse; what already runs is unaffected. */
export function policyGates({ spec, status }: Workspace, policy: Policy) {
  const { vms = [], containerClusters = [], networks = [] } = spec;
  const isIgnored = [...vms, ...containerClusters].some(({ ignoreOnDeploy }) => ignoreOnDeploy === true);
  const asksHostPorts = containerClusters
    .flatMap(({ containers }) => containers)
    .some(({ portMappings = [] }) => portMappings.some(({ hostPort }) => hostPort !== undefined));
  const gateOf = (...keys: (PolicyKey | false)[]): Gate | undefined => {
    const broken = keys.find((key) => key !== false && !isValid(policy, key));
    return broken ? { allow: 'nothing', because: waitingForPolicy(broken) } : undefined;
  };
  const unknownProvider = gateOf(networks.length > 0 && status?.networkProvider === undefined && 'networkProvider');
  return {
    networks: unknownProvider,
    machines: unknownProvider ?? gateOf(isIgnored && 'ignoreOnDeploy'),
    containers:
      unknownProvider ?? gateOf(isIgnored && 'ignoreOnDeploy', asksHostPorts && 'hostPorts', 'machineFailedAfter'),
  };
}
