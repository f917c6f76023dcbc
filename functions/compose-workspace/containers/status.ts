import type { Deployment } from '../../../shared/kinds/apps/deployment.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import type { ContainerCluster, Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import type { Policy } from '../../../shared/policy.ts';
import { type Cause, repeated } from '../../../shared/reasons/reason.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import type { Observed } from '../observed.ts';
import { isHalted } from '../skipped.ts';
import { type ComponentStatus, failed, provisioning, ready } from '../stage.ts';
import { podsOf } from './deployment.ts';
import { crashing, isCurrent, podTrouble } from './pods.ts';

/** How long something may be amiss depends on the time, the policy, and since when the workspace reports it. */
type Circumstances = Pick<Observed, 'workspace' | 'policy' | 'nowMs'> & { isHibernating: boolean };

/** The status of a container cluster whose objects match its spec. */
export function statusOfDeployment(
  observed: Circumstances,
  cluster: ContainerCluster,
  found: Deployment | undefined,
  podsOfAll: readonly Pod[],
): ComponentStatus {
  const { workspace, policy, nowMs, isHibernating } = observed;
  const { status, metadata } = found ?? {};
  if (!status || status.observedGeneration < (metadata?.generation ?? 0)) {
    return provisioning('Updating', 'Kubernetes has not looked at it yet.');
  }
  const stopped = whyStopped(isHibernating, cluster, policy);
  if (stopped) {
    return status.replicas === 0 ? ready('Halted', stopped) : provisioning('Stopping', 'It is being stopped.');
  }
  const pods = podsOfAll.filter(({ metadata: { labels } }) =>
    Object.entries(podsOf(cluster)).every(([key, value]) => labels?.[key] === value),
  );
  const isOverdue = conditionOf(status.conditions, 'Progressing')?.reason === overdue;
  const trouble = refusal(status.conditions) ?? crash(observed, pods);
  if (trouble) {
    const { reason, message, sinceMs } = trouble;
    // Kubernetes no longer reports a Deployment as overdue once it was available.
    const hasFailed = isOverdue || nowMs - sinceMs >= policy.values.machineFailedAfter;
    return hasFailed ? failed(reason, message) : provisioning(reason, message);
  }
  const isUp =
    status.updatedReplicas >= 1 && status.availableReplicas >= 1 && status.replicas === status.updatedReplicas;
  if (isUp) return ready('Available', 'Its containers run.');
  const { reason, message } = podTrouble(pods) ?? {};
  return isOverdue
    ? failed(reason ?? overdue, message ?? describeOverdue(namespaceOf(workspace.metadata.name), cluster.name, pods))
    : provisioning(reason ?? 'Starting', message ?? 'Its containers are being started.');
}

function whyStopped(isHibernating: boolean, cluster: ContainerCluster, policy: Policy): string | undefined {
  if (isHibernating) return 'Stopped, because the workspace hibernates.';
  if (!isHalted(cluster, policy)) return undefined;
  return "Not started, because its ignoreOnDeploy is true and the policy's ignoreOnDeploy says Halt.";
}

/** Kubernetes' reason for a rollout that makes no progress for as long as the policy's machineFailedAfter. */
const overdue = 'ProgressDeadlineExceeded';

/** Trouble that may pass, and is a failure if it lasts. */
type Lasting = Cause & { sinceMs: number };

/** A Pod that cannot be made: what it needs may come a moment later. */
function refusal(conditions: NonNullable<Deployment['status']>['conditions']): Lasting | undefined {
  const refused = conditionOf(conditions, 'ReplicaFailure');
  if (refused?.status !== 'True') return undefined;
  const { reason, message, lastTransitionTime } = refused;
  return {
    reason: repeated(reason),
    message: `Its Pod cannot be made: ${message}`,
    sinceMs: Date.parse(String(lastTransitionTime)),
  };
}

function crash({ workspace, policy, nowMs }: Circumstances, pods: readonly Pod[]): Lasting | undefined {
  const found = crashing(pods, { nowMs, steadyMs: policy.values.machineFailedAfter });
  return found && { ...found.trouble, sinceMs: downSinceMs(workspace, nowMs, found.pod) };
}

/** Since when a Pod is not up: no longer than it exists, and than the workspace reports missing containers. */
function downSinceMs({ status }: Workspace, nowMs: number, { metadata }: Pod): number {
  const before = conditionOf(status?.conditions, 'ContainersReady');
  const reportedMs = before?.status === 'True' ? nowMs : Date.parse(before?.lastTransitionTime ?? '');
  return Math.max(reportedMs || 0, Date.parse(metadata.creationTimestamp));
}

function describeOverdue(namespace: string, deployment: string, pods: readonly Pod[]): string {
  const pod = pods.find(isCurrent)?.metadata.name;
  const [called, found] = pod === undefined ? ['It', `deployment ${deployment}`] : [`Pod ${pod}`, `pod ${pod}`];
  return `${called} did not come up in time; to find out why: kubectl describe ${found} -n ${namespace}.`;
}
