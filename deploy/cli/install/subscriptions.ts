import { owns } from '../../../shared/kubernetes/ownership.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import type { Cluster } from './cluster.ts';
import { type AnyObject, Subscription } from './kinds.ts';
import { listOf } from './wait.ts';

/** The Subscriptions that Knative created for a Trigger. */
export async function subscriptionsOf({ kube }: Cluster, trigger: AnyObject): Promise<AnyObject[]> {
  const all = await listOf(kube, Subscription, { namespace: operatorNamespace });
  return all.filter((one) => owns(trigger, one));
}

/**
 * Makes Knative reconcile a Subscription again. Knative gives up if it cannot write the channel, as while the channel's webhook restarts
 * ("PhysicalChannelSyncFailed"), and retries only at its resync, ten hours later.
 */
export async function knock({ kube }: Cluster, { metadata }: AnyObject): Promise<void> {
  const annotations = { 'pelotech.ot/looked-at': new Date().toISOString() };
  await kube.patch(Subscription, metadata, { metadata: { annotations } });
}
