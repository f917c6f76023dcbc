import { isDeepStrictEqual } from 'node:util';
import { type AnyObject, formatObject, KnativeService, keyOf } from '../../install/kinds.ts';
import { isUp } from '../../install/readiness.ts';
import { deadIn } from '../../install/triggers.ts';
import { lackingIn } from './definitions.ts';
import { type Finding, untrue, upgrade } from './finding.ts';
import type { Installation } from './installation.ts';

/** What of a spec has to be as it is shipped, by kind; schedules and deliveries are an overlay's to change. */
const asShipped: Readonly<Record<string, readonly string[]>> = {
  Broker: [],
  Trigger: ['broker', 'filters', 'subscriber'],
  ApiServerSource: ['mode', 'namespaceSelector', 'resources', 'serviceAccountName', 'sink'],
  PingSource: ['sink'],
};

/** Broker, Triggers and sources: there, Ready, and of what is shipped. */
export const eventing = ({ shipped, there }: Installation): Finding[] =>
  shipped
    .filter(({ kind }) => kind in asShipped)
    .flatMap((wanted): Finding[] => {
      const name = formatObject(wanted);
      const found = there.get(keyOf(wanted));
      if (!found) return [{ name, expected: 'it', found: 'none', cure: upgrade }];
      if ((found.spec as { suspend?: boolean } | undefined)?.suspend)
        return [
          {
            name,
            expected: 'it at work',
            found: 'spec.suspend',
            cure: `kubectl edit ${wanted.kind} ${wanted.metadata.name} -n ${wanted.metadata.namespace}`,
          },
        ];
      const other = asShipped[wanted.kind]?.find((field) => differsIn(field, wanted, found));
      if (other) return [{ name, expected: `its ${other} as shipped`, found: 'another', cure: upgrade }];
      const why = untrue(found, 'Ready');
      return why ? [{ name, expected: 'it to be Ready', found: why, cure: cureOf(wanted) }] : [];
    });

/** Knative's webhook adds to references, and to filters nothing: one more there is another. */
function differsIn(field: string, wanted: AnyObject, found: AnyObject): boolean {
  const [ours, theirs] = [wanted, found].map(({ spec }) => (spec as Record<string, unknown> | undefined)?.[field]);
  return field === 'filters' ? !isDeepStrictEqual(ours, theirs) : lackingIn(ours, theirs, field) !== undefined;
}

const cureOf = ({ kind, metadata }: AnyObject) =>
  kind === 'Trigger'
    ? `see that function ${metadata.name} is there (kubectl get ksvc,deployments -n ${metadata.namespace}), then ${upgrade}`
    : `kubectl describe ${kind} ${metadata.name} -n ${metadata.namespace}`;

/** The channel behind the Broker: a subscriber for each Trigger, and none that nobody stands for. */
export function subscribers({ channel, subscriptions, shipped, there }: Installation): Finding[] {
  if (!channel) return [];
  const alive = new Set(subscriptions.map(({ metadata }) => metadata.uid));
  const dead = deadIn(channel, alive);
  const remake = `kubectl delete inmemorychannel ${channel.metadata.name} -n ${channel.metadata.namespace} (its controller makes it anew)`;
  const { subscribers: listed = [] } = (channel.spec ?? {}) as { subscribers?: { uid?: string }[] };
  const uids = new Set(listed.map(({ uid }) => uid));
  const triggers = shipped.filter(({ kind }) => kind === 'Trigger').flatMap((wanted) => there.get(keyOf(wanted)) ?? []);
  const unheard = triggers.filter(
    (trigger) => !subscriptions.some((one) => isOf(one, trigger) && uids.has(one.metadata.uid)),
  );
  const name = `Channel ${channel.metadata.name}`;
  return [
    ...(dead.length > 0
      ? [
          {
            name,
            expected: 'no subscriber without its Subscription',
            found: `${dead.length} dead, which every event waits for`,
            cure: remake,
          },
        ]
      : []),
    ...unheard.map((trigger) => ({
      name: formatObject(trigger),
      expected: "a subscriber in the Broker's channel",
      found: 'none, so that no event gets to it',
      cure: lookAgain(trigger),
    })),
    ...triggers.flatMap((trigger): Finding[] => {
      // One that is not Ready itself is found already.
      const why = untrue(trigger, 'Ready') ? undefined : unreadyOf(trigger, subscriptions);
      const expected = 'its Subscription to be Ready';
      return why ? [{ name: formatObject(trigger), expected, found: why, cure: lookAgain(trigger) }] : [];
    }),
  ];
}

/** Why the Subscription of a Trigger is not Ready; undefined where it is, or there is none. */
const unreadyOf = (trigger: AnyObject, subscriptions: readonly AnyObject[]) =>
  subscriptions
    .filter((one) => isOf(one, trigger))
    .map((one) => untrue(one, 'Ready'))
    .find((why) => why !== undefined);

/** Knative gives a Subscription up that it could not write, and looks again ten hours later. */
const lookAgain = ({ metadata }: AnyObject) =>
  `kubectl annotate subscriptions.messaging.knative.dev -n ${metadata.namespace} -l eventing.knative.dev/trigger=${metadata.name} looked-at=$(date +%s) --overwrite`;

const isOf = ({ metadata }: AnyObject, trigger: AnyObject) =>
  metadata.ownerReferences?.some(({ uid }) => uid === trigger.metadata.uid) ?? false;

/** A function for each Trigger and one for dead letters, all of them up. On a local cluster they have no objects at all. */
export function workloads({ workloads: found, shipped }: Installation): Finding[] {
  if (found.length === 0) return [];
  const triggers = shipped.filter(({ kind }) => kind === 'Trigger').map(({ metadata }) => metadata.name);
  return [...triggers, 'dead-letters'].flatMap((name): Finding[] => {
    // Knative makes a Deployment of its own for each revision, with another name.
    const workload = found.find(({ metadata }) => metadata.name === name);
    const called = `Function ${name}`;
    if (!workload) return [{ name: called, expected: 'it', found: 'neither Service nor Deployment', cure: upgrade }];
    if (isUp(workload)) return [];
    const why = untrue(workload, workload.kind === 'Deployment' ? 'Available' : 'Ready') ?? 'it is being rolled out';
    // Where its image cannot be pulled a Service may have a revision, and no pod.
    const what = workload.apiVersion === KnativeService.apiVersion ? 'revisions.serving.knative.dev,pods' : 'pods';
    const cure = `kubectl describe ${what} -n ${workload.metadata.namespace} -l app.kubernetes.io/name=${name}`;
    return [{ name: called, expected: 'it to be up', found: why, cure }];
  });
}
