import type { FunctionDeclaration, Subscription, System } from '../shared/function.ts';
import { operatorNamespace, partOf, publicBroker } from '../shared/operator.ts';
import type { Manifest } from './manifest.ts';

/** The Broker that brings what a subscription asks for. */
export function brokerOf({ name, system }: FunctionDeclaration, { on }: Subscription): string {
  if (on === 'event') return publicBroker;
  if (system === undefined) throw new Error(`${name}: expected a system, whose timers and sources wake it, found none`);
  return system;
}

/** The systems with a Broker of their own: those of functions that a timer or a source wakes. */
export const systemsOf = (functions: readonly FunctionDeclaration[]): System[] =>
  [
    ...new Set(
      functions
        .filter(({ on: all }) => all.some(({ on }) => on !== 'event' && on !== 'deadLetter'))
        .map(({ system }) => system),
    ),
  ]
    .filter((system) => system !== undefined)
    .sort();

/** Brokers: each answers senders at once, for no function minds the order of events. */
export const brokerManifests = (names: readonly string[], functions: readonly FunctionDeclaration[]): Manifest[] =>
  names.map((name) => ({
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Broker',
    metadata: {
      name,
      namespace: operatorNamespace,
      labels: partOf,
      annotations: {
        'eventing.knative.dev/broker.class': 'MTChannelBasedBroker',
        'messaging.knative.dev/async-handler': 'true',
      },
    },
    // A Trigger that names no dead letter sink falls back to this one, whatever else its delivery says.
    spec: { delivery: deliveryTo(functions) },
  }));

export const brokerSink = (name: string) => ({
  ref: { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name },
});

/** How events are delivered: for a function with word of which one failed, which the Broker alone does not always give. */
export const deliveryTo = (functions: readonly FunctionDeclaration[], name?: string, isForHours = false) => ({
  ...(isForHours ? longDelivery : delivery),
  ...(functions.some((declaration) => declaration.name === deadLetterFunction)
    ? { deadLetterSink: { ref: subscriberOf(deadLetterFunction), ...(name ? { uri: `/${name}` } : {}) } }
    : {}),
});

const deadLetterFunction = 'dead-letters';

/** Nine attempts, the last ones 12.6, 25.4 and 51 seconds after the first: a restart is over by then, and so is what a function waits for. */
const delivery = { retry: 8, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S', timeout: 'PT10S' };

/**
 * 171 attempts over four hours (4 h 28 min if each is a timeout), each pause a second longer than the last. Linear: Kafka's Broker
 * pauses the same, but twice as long where it is exponential, and a function that is back gets its events within three minutes.
 */
const longDelivery = { retry: 170, backoffPolicy: 'linear', backoffDelay: 'PT1S', timeout: 'PT10S' };

/** A function's Service: the same name with Knative Serving (whose Service makes one) and with a plain Deployment. */
export const subscriberOf = (name: string) => ({ apiVersion: 'v1', kind: 'Service', name });
