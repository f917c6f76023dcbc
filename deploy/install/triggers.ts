import { operatorNamespace } from '../../shared/operator.ts';
import type { Cluster } from './cluster.ts';
import { type AnyObject, formatObject, InMemoryChannel, Subscription } from './kinds.ts';
import { removeAll } from './remove.ts';
import { knock, subscriptionsOf } from './subscriptions.ts';
import { listOf, waitFor } from './wait.ts';

/**
 * Removes Triggers one by one, each when the channel behind the Broker has forgotten the one before. Knative loses updates
 * of that list where several go at once (knative/eventing#8317): a subscriber that is left over answers 404 for every
 * event to come, shows in no status, and holds up all others.
 */
export async function removeTriggers(cluster: Cluster, triggers: readonly AnyObject[]): Promise<void> {
  for (const trigger of triggers) {
    const subscriptions = await subscriptionsOf(cluster, trigger);
    await removeAll(cluster, [trigger]);
    // The garbage collector takes them a moment later; until then they look like any that is meant to stay.
    for (const subscription of subscriptions) await untilGone(cluster, subscription);
    await untilForgotten(cluster, trigger);
  }
}

const brokerOf = ({ spec }: AnyObject) => (spec as { broker?: string } | undefined)?.broker ?? 'default';

/** How long a Subscription or a channel may take before something is done about it. */
const patienceMs = 30_000;

async function untilGone(cluster: Cluster, { metadata }: AnyObject): Promise<void> {
  const waits = { ...cluster, timeoutMs: Math.min(patienceMs, cluster.timeoutMs) };
  const isGone = (found: AnyObject | undefined) => found?.metadata.uid !== metadata.uid;
  const { isLate, object } = await waitFor(waits, Subscription, metadata, isGone);
  if (!isLate || !object) return;
  await knock(cluster, object);
  await waitFor(cluster, Subscription, metadata, isGone);
}

/** Waits until no subscriber of the channel behind the Trigger's Broker is without its Subscription; else has it made anew. */
export async function untilForgotten(cluster: Cluster, trigger: AnyObject): Promise<void> {
  const { kube, say } = cluster;
  const ref = { namespace: operatorNamespace, name: `${brokerOf(trigger)}-kne-trigger` };
  const subscriptions = await listOf(kube, Subscription, { namespace: operatorNamespace });
  const alive = new Set(subscriptions.map(({ metadata }) => metadata.uid));
  const waits = { ...cluster, timeoutMs: Math.min(patienceMs, cluster.timeoutMs) };
  const { isLate, object } = await waitFor(waits, InMemoryChannel, ref, (found) => deadIn(found, alive).length === 0);
  if (!isLate || !object) return;
  say(`${formatObject(object)} keeps ${deadIn(object, alive).length} dead subscribers; its controller makes it anew`);
  await kube.delete(InMemoryChannel, ref);
  await waitFor(
    waits,
    InMemoryChannel,
    ref,
    (found) => found !== undefined && found.metadata.uid !== object.metadata.uid,
  );
}

/** Subscribers of a channel that no Subscription stands for any more. */
export function deadIn(channel: AnyObject | undefined, alive: ReadonlySet<string>): string[] {
  const { subscribers = [] } = (channel?.spec ?? {}) as { subscribers?: { uid?: string }[] };
  return subscribers.map(({ uid = '' }) => uid).filter((uid) => !alive.has(uid));
}
