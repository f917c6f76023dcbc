import { distinct } from '../shared/distinct.ts';
import { filtersOf } from '../shared/event-filter.ts';
import type { FunctionDeclaration, Subscription } from '../shared/function.ts';
import { operatorNamespace, partOf, publicBroker } from '../shared/operator.ts';
import { brokerOf, deliveryTo, subscriberOf } from './broker.ts';
import type { Manifest } from './manifest.ts';

/** One Trigger for each function and Broker that brings it something: every Trigger costs a hop for every event of its Broker. */
export const triggerManifests = (
  functions: readonly FunctionDeclaration[],
  all: readonly FunctionDeclaration[] = functions,
): Manifest[] =>
  functions.flatMap((declaration) =>
    [...Map.groupBy(broughtTo(declaration), (subscription) => brokerOf(declaration, subscription))].map(
      ([broker, subscriptions]) =>
        triggerOf(
          declaration.name,
          broker,
          subscriptions,
          deliveryTo(all, declaration.name, isForHours(subscriptions)),
        ),
    ),
  );

type Brought = Exclude<Subscription, { on: 'deadLetter' }>;

/** What a Trigger has to bring. Dead letters come by none, so that those their own function fails with never come back. */
function broughtTo({ name, on }: FunctionDeclaration): Brought[] {
  const brought = on.filter((subscription) => subscription.on !== 'deadLetter');
  if (brought.length > 0 && brought.length < on.length) {
    throw new Error(
      `${name}: expected on.deadLetter() alone, found ${brought.length} more; give those to another function`,
    );
  }
  return brought;
}

const isForHours = (on: readonly Brought[]) => on.some((one) => one.on === 'event' && one.forHours);

/** A Broker's name is a part of the Trigger's, for a Trigger can never be moved to another Broker. */
const triggerName = (name: string, broker: string) => (broker === publicBroker ? name : `${name}-${broker}`);

const triggerOf = (name: string, broker: string, on: readonly Brought[], delivery: ReturnType<typeof deliveryTo>) => ({
  apiVersion: 'eventing.knative.dev/v1',
  kind: 'Trigger',
  metadata: {
    name: triggerName(name, broker),
    namespace: operatorNamespace,
    // Without it a Trigger that exists before its Broker may stay not ready.
    labels: { ...partOf, 'eventing.knative.dev/broker': broker },
  },
  spec: {
    broker,
    filters: [{ any: distinct(on.flatMap(filtersOf), (filter) => JSON.stringify(filter)) }],
    subscriber: { ref: subscriberOf(name) },
    delivery,
  },
});
