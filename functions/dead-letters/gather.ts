import type { Batch, Context, DeadLetter } from '../../shared/function.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Broker } from '../../shared/kinds/eventing/broker.ts';
import { functionOf, Trigger } from '../../shared/kinds/eventing/trigger.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { operatorNamespace, publicBroker } from '../../shared/operator.ts';
import { eventNameOf, groupsOf, type Observed } from './decide.ts';

/** The limit of Events that a reconcile writes. Further letters are only counted and logged. */
const shownAtMost = 10;

export async function gather({ kube, nowMs, refusals }: Context, { messages }: Batch): Promise<Observed[]> {
  const letters = messages.map(({ data }) => data as DeadLetter);
  // Many letters come from an unreachable API server. They are counted without it.
  const triggers = await kube.list(Trigger, { namespace: operatorNamespace }).catch(() => []);
  const groups = groupsOf(letters, new Set(triggers.map(ownerOf)));
  const broker = groups.some((group) => !triggerOf(group, triggers))
    ? await read(kube, Broker, publicBroker)
    : undefined;
  return Promise.all(
    groups.map(async (group, index) => {
      const counted = { ...group, about: undefined, recorded: undefined, nowMs, refusals };
      const about = triggerOf(group, triggers) ?? broker;
      if (!about || about === unread || index >= shownAtMost) return counted;
      const recorded = await read(kube, Event, eventNameOf(group, about));
      return recorded === unread ? counted : { ...counted, about, recorded };
    }),
  );
}

type Reader = Context['kube'];

/** The function of a Trigger; its own name if it leads elsewhere. */
const ownerOf = (trigger: Trigger) => functionOf(trigger) || trigger.metadata.name;

/** The Trigger of the function that failed: messages come by the one on the public Broker, all else by its other one. */
function triggerOf({ failed, tells }: Pick<Observed, 'failed' | 'tells'>, triggers: readonly Trigger[]) {
  const its = triggers.filter((trigger) => ownerOf(trigger) === failed);
  return its.find(({ spec }) => (spec?.broker === publicBroker) === (tells === 'message')) ?? its[0];
}

const unread = 'unread';

const read = (kube: Reader, resource: typeof Broker | typeof Event, name: string) =>
  kube.get<KubernetesObject>(resource, { namespace: operatorNamespace, name }).catch(() => unread as typeof unread);
