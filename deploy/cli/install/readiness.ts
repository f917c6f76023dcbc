import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { labelSelector } from '../../../shared/kubernetes/selectors.ts';
import type { Cluster } from './cluster.ts';
import { InstallError } from './cluster.ts';
import { type AnyObject, Definition, Deployment, formatObject, Pod, resourceOf, Trigger } from './kinds.ts';
import { knock, subscriptionsOf } from './subscriptions.ts';
import { listOf, waitFor } from './wait.ts';

/** A condition of any kind of object. */
export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

interface Status {
  /** `null` in a CRD that kube-apiserver has just accepted. */
  conditions?: Condition[] | null;
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  availableReplicas?: number;
}

const statusOf = (object: AnyObject | undefined) => (object?.status ?? {}) as Status;

/** The condition that makes an object ready; undefined for a kind that is ready when it exists. */
function awaited({ apiVersion, kind }: KubernetesObject): string | undefined {
  if (kind === Definition.kind) return 'Established';
  if (kind === Deployment.kind) return 'Available';
  return /^(eventing|sources|serving|messaging)\.knative\.dev\//.test(apiVersion) ? 'Ready' : undefined;
}

/** True if the object is ready at its current generation. */
export function isUp(object: AnyObject): boolean {
  const type = awaited(object);
  if (!type) return true;
  const { conditions, observedGeneration } = statusOf(object);
  const isSeen = observedGeneration === undefined || observedGeneration >= object.metadata.generation;
  const isRolledOut = object.kind !== Deployment.kind || hasRolledOut(object);
  return isSeen && isRolledOut && !!conditions?.some((one) => one.type === type && one.status === 'True');
}

/** As `kubectl rollout status` judges it: every wanted pod is new and available, and no old pod is left. */
function hasRolledOut(deployment: AnyObject): boolean {
  const status = statusOf(deployment);
  const { observedGeneration, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const { replicas: wanted = 1 } = (deployment.spec ?? {}) as { replicas?: number };
  const isComplete = updatedReplicas >= wanted && replicas === updatedReplicas && availableReplicas >= updatedReplicas;
  return observedGeneration !== undefined && isComplete;
}

/** Waits until an object is ready; throws an InstallError with the reason if it is not. */
export async function untilUp(cluster: Cluster, wanted: KubernetesObject): Promise<void> {
  const type = awaited(wanted);
  if (!type) return;
  const { isLate, object } =
    wanted.kind === Trigger.kind ? await untilTriggerUp(cluster, wanted) : await untilIsUp(cluster, wanted);
  if (!isLate) return;
  const found = [...whyNot(object), ...(wanted.kind === Deployment.kind ? await podTroubles(cluster, wanted) : [])];
  throw new InstallError(
    `expected ${formatObject(wanted)} to be ${type} within ${cluster.timeoutMs / 1000} s, found ${found.join('; ') || 'no status'}. Correct that, then run the same command again.`,
  );
}

const untilIsUp = (cluster: Pick<Cluster, 'kube' | 'timeoutMs'>, wanted: KubernetesObject) =>
  waitFor(cluster, resourceOf(wanted), wanted.metadata, (found) => (found ? isUp(found) : false));

/** How long a Trigger may take before the installer makes Knative reconcile its Subscription again. */
const patienceMs = 15_000;

async function untilTriggerUp(cluster: Cluster, wanted: KubernetesObject) {
  for (let leftMs = cluster.timeoutMs; ; leftMs -= patienceMs) {
    const found = await untilIsUp({ ...cluster, timeoutMs: Math.min(patienceMs, leftMs) }, wanted);
    if (!found.isLate || leftMs <= patienceMs || !found.object) return found;
    for (const subscription of await subscriptionsOf(cluster, found.object)) await knock(cluster, subscription);
  }
}

const whyNot = (object: AnyObject | undefined) =>
  (statusOf(object).conditions ?? []).filter(({ status }) => status !== 'True').map(describeCondition);

export const describeCondition = ({ type, status, reason, message }: Condition) =>
  [`${type} is ${status}`, reason, message].filter(Boolean).join(': ');

/** Why the pods of a Deployment do not start: an image that cannot be pulled, a container that crashes. */
async function podTroubles({ kube }: Cluster, { metadata }: KubernetesObject): Promise<string[]> {
  const selector = labelSelector({ 'app.kubernetes.io/name': metadata.name });
  const pods = await listOf(kube, Pod, { namespace: metadata.namespace ?? '', labelSelector: selector });
  return pods.flatMap(({ metadata: { name }, status }) => {
    const { containerStatuses = [] } = (status ?? {}) as {
      containerStatuses?: { state?: { waiting?: { reason?: string; message?: string } } }[];
    };
    return containerStatuses
      .map(({ state }) => state?.waiting)
      .filter((waiting) => waiting !== undefined)
      .map(({ reason, message }) => [`Pod ${name}`, reason, message].filter(Boolean).join(': '));
  });
}
