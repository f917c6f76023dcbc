import type { FunctionDeclaration, Waker } from '../shared/function.ts';
import { operatorNamespace } from '../shared/rules/operator.ts';
import { workspacePrefix } from '../shared/rules/workspace.ts';
import { brokerName, deliveryTo, subscriberOf } from './broker.ts';
import { type Manifest, partOf } from './manifest.ts';
import { pingAttributes } from './pings.ts';

/** One Trigger for each function that anything wakes: every Trigger costs a hop for every event. */
export const triggerManifests = (
  functions: readonly FunctionDeclaration[],
  all: readonly FunctionDeclaration[] = functions,
): Manifest[] =>
  functions
    .map((declaration) => ({ name: declaration.name, wakers: broughtTo(declaration) }))
    .filter(({ wakers }) => wakers.length > 0)
    .map(({ name, wakers }) => triggerOf(name, wakers, deliveryTo(all, name)));

type Brought = Exclude<Waker, { on: 'deadLetter' }>;

/** What a Trigger has to bring. Dead letters come by none, so that those their own function fails with never come back. */
function broughtTo({ name, on }: FunctionDeclaration): Brought[] {
  const brought = on.filter((waker) => waker.on !== 'deadLetter');
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
    filters: [{ any: distinct(on.flatMap(filtersOf)) }],
    subscriber: { ref: subscriberOf(name) },
    delivery,
  },
});

type Filter =
  | { exact: Record<string, string> }
  | { prefix: Record<string, string> }
  | { not: Filter }
  | { all: Filter[] };

/** Of what is in workspaces, or is not, only that is brought: a source tells of every Pod of the cluster that has its labels. */
function filtersOf(waker: Brought): Filter[] {
  const exacts = attributesOf(waker).map((exact) => ({ exact }));
  if (waker.on !== 'changed' || waker.namespace === undefined) return exacts;
  const inside = { prefix: { [waker.resource.namespaced ? 'namespace' : 'name']: workspacePrefix } };
  return exacts.map((exact) => ({ all: [exact, waker.namespace === 'workspace' ? inside : { not: inside }] }));
}

function attributesOf(waker: Brought): Record<string, string>[] {
  if (waker.on === 'event') return [{ type: waker.type }];
  if (waker.on !== 'changed') return [pingAttributes(waker.on)];
  const { apiVersion, kind } = waker.resource;
  const changed = { apiversion: apiVersion, kind, ...(waker.name ? { name: waker.name } : {}) };
  return waker.verbs?.map((verb) => ({ ...changed, type: `dev.knative.apiserver.ref.${verb}` })) ?? [changed];
}

const distinct = <T>(values: readonly T[]) => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];
