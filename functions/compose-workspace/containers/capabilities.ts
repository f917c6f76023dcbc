import type { ContainerCluster } from '../../../shared/kinds/pelotech/workspace.ts';
import { isValid, type Policy } from '../../../shared/policy.ts';
import { type ComponentStatus, failed, waitingForPolicy } from '../stage.ts';

/**
 * Why a container cluster is not made, or is stopped: it adds capabilities that the policy does not allow. The namespaces of
 * workspaces accept any, and some of them are a way to be root on a node (Kubernetes' Pod Security Standards, Baseline).
 */
export function beyondCapabilities({ containers }: ContainerCluster, policy: Policy): ComponentStatus | undefined {
  const added = containers.flatMap(({ capabilities }) => capabilities?.add ?? []);
  if (added.length === 0) return undefined;
  if (!isValid(policy, 'workspaceCapabilities')) return waitingForPolicy('workspaceCapabilities');
  const allowed = policy.values.workspaceCapabilities;
  if (allowed.includes('*')) return undefined;
  const beyond = [...new Set(added)].filter((one) => !allowed.includes(one));
  return beyond.length > 0
    ? failed(
        'CapabilityNotAllowed',
        `Expected capabilities among the policy's workspaceCapabilities, found ${beyond.join(', ')}; drop them, or have an admin allow them. Until then it does not run.`,
      )
    : undefined;
}
