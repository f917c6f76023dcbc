import { type Batch, type Context, type DeadLetter, defineFunction, on } from '../../shared/function.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Broker } from '../../shared/kinds/eventing/broker.ts';
import { Trigger } from '../../shared/kinds/eventing/trigger.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { decide, eventNameOf, groupsOf, type Observed } from './decide.ts';

/** Counts the events that no function accepted, and reports them on the Trigger of the function that failed. */
export default defineFunction<Observed>({
  name: 'dead-letters',
  on: [on.deadLetter()],
  may: [
    { resource: Trigger, verbs: ['get'], namespace: 'own' },
    { resource: Broker, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['get', 'create', 'patch'], namespace: 'own' },
  ],
  scale: 'zero',
  observe,
  decide,
});

/** The limit of Events that a reconcile writes. Further letters are only counted and logged. */
const shownAtMost = 10;
/** The limit of names that a reconcile looks up: any Pod in the cluster can post to an invented path. */
const askedAtMost = 20;

async function observe({ kube, nowMs, refusals }: Context, { messages }: Batch): Promise<Observed[]> {
  const letters = messages.map(({ data }) => data as DeadLetter);
  const triggers = await triggersOf(kube, letters);
  const groups = groupsOf(letters, new Set(triggers.keys()));
  const broker = groups.some(({ failed }) => !triggers.has(failed)) ? await read(kube, Broker, 'default') : undefined;
  return Promise.all(
    groups.map(async (group, index) => {
      const counted = { ...group, about: undefined, recorded: undefined, nowMs, refusals };
      const about = triggers.get(group.failed) ?? broker;
      if (!about || about === unread || index >= shownAtMost) return counted;
      const recorded = await read(kube, Event, eventNameOf(group, about));
      return recorded === unread ? counted : { ...counted, about, recorded };
    }),
  );
}

type Reader = Context['kube'];

/** The Triggers of the functions that failed, by name. */
async function triggersOf(kube: Reader, letters: readonly DeadLetter[]): Promise<Map<string, KubernetesObject>> {
  const names = [...new Set(letters.map(({ failed }) => failed))].filter((name) => name !== undefined);
  const found = await Promise.all(names.slice(0, askedAtMost).map((name) => read(kube, Trigger, name)));
  const triggers = found.filter((trigger) => trigger !== undefined && trigger !== unread);
  return new Map(triggers.map((trigger) => [trigger.metadata.name, trigger]));
}

const unread = 'unread';

/** Many letters come from an unreachable API server. They are counted without it. */
const read = (kube: Reader, resource: typeof Trigger | typeof Broker | typeof Event, name: string) =>
  kube.get<KubernetesObject>(resource, { namespace: operatorNamespace, name }).catch(() => unread as typeof unread);
