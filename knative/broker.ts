import type { FunctionDeclaration } from '../shared/function.ts';
import { operatorNamespace } from '../shared/rules/operator.ts';
import { type Manifest, partOf } from './manifest.ts';

/** The one Broker between sources and functions. */
export const brokerName = 'default';

const deadLetterFunction = 'dead-letters';

/** The Broker: it answers senders at once, for no function minds the order of events. */
export function brokerManifests(functions: readonly FunctionDeclaration[]): Manifest[] {
  const hasDeadLetters = functions.some(({ name }) => name === deadLetterFunction);
  const broker = {
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Broker',
    metadata: {
      name: brokerName,
      namespace: operatorNamespace,
      labels: partOf,
      annotations: {
        'eventing.knative.dev/broker.class': 'MTChannelBasedBroker',
        'messaging.knative.dev/async-handler': 'true',
      },
    },
    spec: {
      delivery: {
        ...delivery,
        // A Trigger that names none of its own falls back to this one.
        ...(hasDeadLetters ? { deadLetterSink: { ref: subscriberOf(deadLetterFunction) } } : {}),
      },
    },
  };
  return [broker];
}

/** Attempts at 0, 0.2, 0.6, 1.4, 3 and 6.2 seconds; a restart of a function is over by then, and a sweep finds the rest. */
export const delivery = { retry: 5, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S', timeout: 'PT10S' };

/** A function's Service: the same name with Knative Serving (whose Service makes one) and with a plain Deployment. */
export const subscriberOf = (name: string) => ({ apiVersion: 'v1', kind: 'Service', name });
