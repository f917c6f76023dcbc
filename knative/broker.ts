import type { FunctionDeclaration } from '../shared/function.ts';
import { operatorNamespace } from '../shared/operator.ts';
import { type Manifest, partOf } from './manifest.ts';

/** The one Broker between sources and functions. */
export const brokerName = 'default';

/** The Broker: it answers senders at once, for no function minds the order of events. */
export function brokerManifests(functions: readonly FunctionDeclaration[]): Manifest[] {
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
      // A Trigger that names no dead letter sink falls back to this one, whatever else its delivery says.
      delivery: deliveryTo(functions),
    },
  };
  return [broker];
}

/** How events are delivered: for a function with word of which one failed, which the Broker alone does not always give. */
export const deliveryTo = (functions: readonly FunctionDeclaration[], name?: string) => ({
  ...delivery,
  ...(functions.some((declaration) => declaration.name === deadLetterFunction)
    ? { deadLetterSink: { ref: subscriberOf(deadLetterFunction), ...(name ? { uri: `/${name}` } : {}) } }
    : {}),
});

const deadLetterFunction = 'dead-letters';

/** Nine attempts, the last ones 12.6, 25.4 and 51 seconds after the first: a restart is over by then, and so is what a function waits for. */
const delivery = { retry: 8, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S', timeout: 'PT10S' };

/** A function's Service: the same name with Knative Serving (whose Service makes one) and with a plain Deployment. */
export const subscriberOf = (name: string) => ({ apiVersion: 'v1', kind: 'Service', name });
