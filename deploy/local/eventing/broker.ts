import { Hono } from 'hono';
import { type Clock, delay } from '../clock.ts';
import type { Resolve } from './address.ts';
import { type DeliveryResult, deliver, type Subscription, timeToLive } from './deliver.ts';
import { type Event, readEvent, withAttributes } from './event.ts';
import type { Passage, Perturb } from './faults.ts';
import { matches } from './filters.ts';
import type { Broker, Delivery, Trigger } from './resources.ts';
import { policyOf } from './retries.ts';

/** What the Broker knows of its cluster at this moment. */
interface BrokerWorld {
  clock: Clock;
  signal: AbortSignal;
  broker(namespace: string, name: string): Broker | undefined;
  triggers(namespace: string, broker: string): readonly Trigger[];
  isReady(trigger: Trigger): boolean;
  resolve: Resolve;
  isOut(): boolean;
  perturb: Perturb;
  count(trigger: string, result: DeliveryResult): void;
  /** Called with each delivery that continues after the answer to the sender. */
  running(work: Promise<unknown>): void;
}

/** Knative's broker ingress and what lies behind it (MTChannelBasedBroker on InMemoryChannel): POST /namespace/broker. */
export function brokerIngress(world: BrokerWorld): Hono {
  const app = new Hono();
  app.all('*', async (context) => {
    const request = context.req.raw;
    if (world.isOut()) return answer(503);
    if (request.method === 'OPTIONS') {
      return answer(200, { 'webhook-allowed-origin': '*', 'webhook-allowed-rate': '*' });
    }
    if (request.method !== 'POST') return answer(405);
    const { pathname, search } = new URL(request.url);
    if (pathname === '/') return answer(404);
    const [, namespace, name, ...rest] = pathname.replace(/\/$/, '').split('/');
    if (!namespace || !name || rest.length > 0) return answer(400);
    const event = await readEvent(request).catch(() => undefined);
    if (!event) return answer(400);
    // Knative takes the query for a part of the name, so that no such Broker is found.
    const broker = search === '' ? world.broker(namespace, name) : undefined;
    if (!broker) return answer(404);
    return answer(await receive(world, broker, event, passThrough(request.headers)));
  });
  return app;
}

const answer = (status: number, headers: Record<string, string> = {}) =>
  new Response(null, { status, headers: { allow: 'POST, OPTIONS', ...headers } });

const initialTimeToLive = 255;

async function receive(world: BrokerWorld, broker: Broker, event: Event, headers: Record<string, string>) {
  const before = event.attributes[timeToLive] ?? '';
  const ttl = /^-?\d+$/.test(before) ? Number(before) - 1 : initialTimeToLive;
  if (ttl <= 0) return 400;
  const arrived = withAttributes(event, {
    [timeToLive]: String(ttl),
    knativearrivaltime: new Date(world.clock.now()).toISOString(),
  });
  // It fails only where the Broker is being shut down, and takes what is on its way with it.
  const work = fanOut(world, broker, arrived, headers).catch(() => false);
  if (broker.metadata.annotations?.['messaging.knative.dev/async-handler'] === 'true') {
    world.running(work);
    return 202;
  }
  return (await work) ? 202 : 500;
}

/** Brings the event to all Triggers that want it, at once; true where each of them delivered it. */
async function fanOut(world: BrokerWorld, broker: Broker, event: Event, headers: Record<string, string>) {
  const { name, namespace = '' } = broker.metadata;
  const wanting = world
    .triggers(namespace, name)
    .filter((trigger) => matches(trigger.spec, event) && world.isReady(trigger));
  const results = await Promise.all(wanting.map((trigger) => toTrigger(world, broker, trigger, event, headers)));
  return results.every(Boolean);
}

async function toTrigger(
  world: BrokerWorld,
  broker: Broker,
  trigger: Trigger,
  event: Event,
  headers: Record<string, string>,
): Promise<boolean> {
  const key = `${trigger.metadata.namespace}/${trigger.metadata.name}`;
  const count = (result: DeliveryResult) => world.count(key, result);
  const passage: Passage = { event, trigger: key };
  const delaysMs = world.perturb(passage);
  if (delaysMs.length === 0) count('dropped');
  const results = await Promise.all(
    delaysMs.map(async (delayMs) => {
      if (delayMs > 0) await delay(world.clock, delayMs, world.signal);
      const { clock, signal } = world;
      return deliver(event, subscriptionOf(world, broker, trigger), { clock, signal, count, headers });
    }),
  );
  return results.every(Boolean);
}

/** What Knative's webhook gives a Broker that says nothing. */
const defaultDelivery: Delivery = { retry: 10, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S' };

/** Where goes what the Trigger's subscriber does not take: to its own dead letter sink, else to the Broker's. */
export const deadLetterSinkOf = (trigger: Trigger, broker: Broker | undefined) =>
  trigger.spec.delivery?.deadLetterSink ?? broker?.spec.delivery?.deadLetterSink;

function subscriptionOf(world: BrokerWorld, broker: Broker, trigger: Trigger): Subscription {
  const namespace = trigger.metadata.namespace ?? '';
  const ofBroker = broker.spec.delivery ?? defaultDelivery;
  // It replaces the Broker's as a whole, but for the dead letter sink.
  const delivery = trigger.spec.delivery ?? ofBroker;
  const deadLetterSink = deadLetterSinkOf(trigger, broker);
  return {
    namespace,
    subscriber: world.resolve(trigger.spec.subscriber, namespace),
    reply: world.resolve({ ref: { kind: 'Broker', name: broker.metadata.name } }, namespace),
    deadLetterSink: deadLetterSink && world.resolve(deadLetterSink, namespace),
    policy: policyOf(delivery),
  };
}

/** The headers that Knative carries from sender to subscriber. */
const passThrough = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => /^(x-request-id$|retry-after$|knative-|x-b3-)/.test(name)));
