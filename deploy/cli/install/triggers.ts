import { operatorNamespace } from '../../../shared/operator.ts';
import type { Cluster } from './cluster.ts';
import { type AnyObject, formatObject, InMemoryChannel, Subscription } from './kinds.ts';
import { removeAll } from './remove.ts';
import { knock, subscriptionsOf } from './subscriptions.ts';
import { listOf, waitFor } from './wait.ts';

/**
 * Deletes the Triggers of each Broker one by one, each after the channel of the Broker has dropped the previous one. Knative loses updates
 * of that list if several change at once (knative/eventing#8317): a leftover subscriber answers 404 for every further event, appears in no
 * status, and delays all others.
 */
export async function removeTriggers(cluster: Cluster, triggers: readonly AnyObject[]): Promise<void> {
  await Promise.all(
    Object.values(Object.groupBy(triggers, brokerOf)).map((some = []) => removeOneByOne(cluster, some)),
  );
}

async function removeOneByOne(cluster: Cluster, triggers: readonly AnyObject[]): Promise<void> {
  for (const trigger of triggers) {
    const subscriptions = await subscriptionsOf(cluster, trigger);
    await removeAll(cluster, [trigger]);
    // The garbage collector deletes them a moment later; until then they look like any other.
    for (const subscription of subscriptions) await untilGone(cluster, subscription);
    await untilForgotten(cluster, trigger);
  }
}

const specOf = ({ spec = {} }: AnyObject) => spec as { broker?: string; subscriber?: { ref?: { name?: string } } };

const brokerOf = (trigger: AnyObject) => specOf(trigger).broker ?? 'default';

/** The function that a Trigger delivers to. */
export const functionOf = (trigger: AnyObject) => specOf(trigger).subscriber?.ref?.name ?? '';

/** How long a Subscription or a channel may take before the installer intervenes. */
const patienceMs = 30_000;

async function untilGone(cluster: Cluster, { metadata }: AnyObject): Promise<void> {
  const waits = { ...cluster, timeoutMs: Math.min(patienceMs, cluster.timeoutMs) };
  const isGone = (found: AnyObject | undefined) => found?.metadata.uid !== metadata.uid;
  const { isLate, object } = await waitFor(waits, Subscription, metadata, isGone);
  if (!isLate || !object) return;
  await knock(cluster, object);
  await waitFor(cluster, Subscription, metadata, isGone);
}

/** Waits until every subscriber of the Broker's channel has its Subscription; else has the channel created again. */
export async function untilForgotten(cluster: Cluster, trigger: AnyObject): Promise<void> {
  const { kube, say } = cluster;
  const ref = { namespace: operatorNamespace, name: `${brokerOf(trigger)}-kne-trigger` };
  const subscriptions = await listOf(kube, Subscription, { namespace: operatorNamespace });
  const alive = new Set(subscriptions.map(({ metadata }) => metadata.uid));
  const waits = { ...cluster, timeoutMs: Math.min(patienceMs, cluster.timeoutMs) };
  const { isLate, object } = await waitFor(waits, InMemoryChannel, ref, (found) => deadIn(found, alive).length === 0);
  if (!isLate || !object) return;
  say(
    `${formatObject(object)} keeps ${deadIn(object, alive).length} dead subscribers; its controller creates it again`,
  );
  await kube.delete(InMemoryChannel, ref);
  await waitFor(
    waits,
    InMemoryChannel,
    ref,
    (found) => found !== undefined && found.metadata.uid !== object.metadata.uid,
  );
}

/** The subscribers of a channel that have no Subscription any more. */
export const deadIn = (channel: AnyObject | undefined, alive: ReadonlySet<string>): string[] =>
  subscribersIn(channel).filter((uid) => !alive.has(uid));

/** The uids of the Subscriptions that a channel sends to. */
export function subscribersIn(channel: AnyObject | undefined): string[] {
  const { subscribers = [] } = (channel?.spec ?? {}) as { subscribers?: { uid?: string }[] };
  return subscribers.map(({ uid = '' }) => uid);
}
