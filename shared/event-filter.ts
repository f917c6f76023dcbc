import type { Subscription, System } from './function.ts';
import { operatorNamespace } from './operator.ts';
import { workspacePrefix } from './workspaces/workspace.ts';

/** The attributes of a CloudEvent; a cluster-scoped object's `namespace` is empty. */
export type EventAttributes = Readonly<Record<string, unknown>>;

/** The events that a subscription accepts, as a filter of a Knative Trigger (`spec.filters`). */
type EventFilter =
  | { exact: Record<string, string> }
  | { prefix: Record<string, string> }
  | { suffix: Record<string, string> }
  | { not: EventFilter }
  | { all: EventFilter[] };

/**
 * The filters of a subscription: an event passes if any of them matches. The Trigger is generated from them and the function evaluates
 * them, so that both accept the same events. They contain no labels: an event carries none.
 */
export function filtersOf(subscription: Subscription): EventFilter[] {
  if (subscription.on === 'sweep' || subscription.on === 'audit') return [timerFilter(subscription.on)];
  const exacts = attributesOf(subscription).map((exact) => ({ exact }));
  if (subscription.on !== 'changed' || subscription.namespace === undefined) return exacts;
  const inside = { prefix: { [subscription.resource.namespaced ? 'namespace' : 'name']: workspacePrefix } };
  return exacts.map((exact) => ({ all: [exact, subscription.namespace === 'workspace' ? inside : { not: inside }] }));
}

/** True if a function with these subscriptions needs the event. */
export const isWanted = (on: readonly Subscription[], event: EventAttributes) =>
  on.some((subscription) => filtersOf(subscription).some((filter) => passes(filter, event)));

type Timer = 'sweep' | 'audit';

export const timerName = (system: System, timer: Timer) => `${system}-${timer}`;

/** The timer that a PingSource is, by its name or its source attribute. */
export const timerOf = (name: string) => name.slice(name.lastIndexOf('-') + 1);

const timerType = 'dev.knative.sources.ping';
const timerSources = `/apis/v1/namespaces/${operatorNamespace}/pingsources/`;

/** The attributes that identify the events of a timer. */
export const timerAttributes = (timer: Timer, system: System = 'images') => ({
  type: timerType,
  source: timerSources + timerName(system, timer),
});

/** The timers of all systems with that name: a function receives those of its Broker. */
const timerFilter = (timer: Timer): EventFilter => ({
  all: [{ exact: { type: timerType } }, { prefix: { source: timerSources } }, { suffix: { source: `-${timer}` } }],
});

function attributesOf(subscription: Exclude<Subscription, { on: Timer }>): Record<string, string>[] {
  // No Trigger delivers dead letters.
  if (subscription.on === 'deadLetter') return [];
  if (subscription.on === 'event') return [{ type: subscription.type, ...subscription.attributes }];
  const { apiVersion, kind } = subscription.resource;
  const changed = { apiversion: apiVersion, kind, ...(subscription.name ? { name: subscription.name } : {}) };
  return subscription.verbs?.map((verb) => ({ ...changed, type: `dev.knative.apiserver.ref.${verb}` })) ?? [changed];
}

function passes(filter: EventFilter, event: EventAttributes): boolean {
  if ('exact' in filter) return Object.entries(filter.exact).every(([name, value]) => event[name] === value);
  if ('prefix' in filter)
    return Object.entries(filter.prefix).every(([name, value]) => String(event[name] ?? '').startsWith(value));
  if ('suffix' in filter)
    return Object.entries(filter.suffix).every(([name, value]) => String(event[name] ?? '').endsWith(value));
  if ('not' in filter) return !passes(filter.not, event);
  return filter.all.every((one) => passes(one, event));
}
