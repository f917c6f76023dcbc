import { setTimeout as sleep } from 'node:timers/promises';
import { allReady, Trigger } from './objects.ts';
import { postTo, probe, type World } from './world.ts';

/**
 * Resolves when every Trigger of these Brokers is brought its events. Knative says Ready of a Trigger before its
 * dispatcher and filter have heard of it, and loses its events until then; but they hear of Triggers in order, so that
 * all others are ready once the newest has had an event.
 */
export async function settle(world: World, brokers: readonly string[]): Promise<void> {
  const { kube, namespace, functions } = world;
  for (const broker of brokers) {
    const filters = [{ exact: { type: probe['ce-type'] } }];
    const spec = { broker, filters, subscriber: { uri: functions.urlOf(lastOf(broker)) } };
    await kube.create(Trigger, { metadata: { name: lastOf(broker), namespace }, spec });
  }
  await allReady(kube, Trigger, namespace);
  await Promise.all(brokers.map((broker) => untilLastHears(world, broker)));
}

const lastOf = (broker: string) => `${broker}-last`;
const patience = { tries: 150, everyMs: 200 };

async function untilLastHears(world: World, broker: string) {
  const hasHeard = () => world.functions.callsOf(lastOf(broker)).length > 0;
  for (let tries = 0; !hasHeard(); tries++) {
    if (tries === patience.tries) throw new Error(`expected Broker ${broker} to bring an event to its last Trigger`);
    await postTo(world, broker, { headers: probe });
    if (!hasHeard()) await sleep(patience.everyMs);
  }
}
