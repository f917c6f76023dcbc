import { distinct } from '../shared/distinct.ts';
import { filtersOf } from '../shared/event-filter.ts';
import type { FunctionDeclaration, Subscription } from '../shared/function.ts';
import { operatorNamespace } from '../shared/operator.ts';
import { brokerName, deliveryTo, subscriberOf } from './broker.ts';
import { type Manifest, partOf } from './manifest.ts';

/** One Trigger for each function with subscriptions: every Trigger costs a hop for every event. */
export const triggerManifests = (
  functions: readonly FunctionDeclaration[],
  all: readonly FunctionDeclaration[] = functions,
): Manifest[] =>
  functions
    .map((declaration) => ({ name: declaration.name, subscriptions: broughtTo(declaration) }))
    .filter(({ subscriptions }) => subscriptions.length > 0)
    .map(({ name, subscriptions }) => triggerOf(name, subscriptions, deliveryTo(all, name)));

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

const triggerOf = (name: string, on: readonly Brought[], delivery: ReturnType<typeof deliveryTo>) => ({
  apiVersion: 'eventing.knative.dev/v1',
  kind: 'Trigger',
  metadata: {
    name,
    namespace: operatorNamespace,
    // Without it a Trigger that is there before its Broker may stay not ready.
    labels: { ...partOf, 'eventing.knative.dev/broker': brokerName },
  },
  spec: {
    broker: brokerName,
    filters: [{ any: distinct(on.flatMap(filtersOf), (filter) => JSON.stringify(filter)) }],
    subscriber: { ref: subscriberOf(name) },
    delivery,
  },
});
