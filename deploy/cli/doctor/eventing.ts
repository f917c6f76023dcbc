import { isDeepStrictEqual } from 'node:util';
import { functionOf } from '../../../shared/kinds/eventing/trigger.ts';
import { owns } from '../../../shared/kubernetes/ownership.ts';
import { manifestKey } from '../../manifests.ts';
import { type AnyObject, formatObject, KnativeService } from '../install/kinds.ts';
import { isUp } from '../install/readiness.ts';
import { deadIn, subscribersIn } from '../install/triggers.ts';
import { lackingIn } from './definitions.ts';
import { type Finding, untrue, upgrade } from './finding.ts';
import type { Installation } from './installation.ts';

/** The fields of a spec that must match the manifests, by kind; an overlay may change schedules and deliveries. */
const asShipped: Readonly<Record<string, readonly string[]>> = {
  Broker: [],
  Trigger: ['broker', 'filters', 'subscriber'],
  ApiServerSource: ['mode', 'namespaceSelector', 'resources', 'serviceAccountName', 'sink'],
  PingSource: ['sink'],
};

/** Brokers, Triggers and sources: they exist, are Ready, and match the manifests. */
export const eventing = ({ shipped, there }: Installation): Finding[] =>
  shipped
    .filter(({ kind }) => kind in asShipped)
    .flatMap((wanted): Finding[] => {
      const name = formatObject(wanted);
      const found = there.get(manifestKey(wanted));
      if (!found) return [{ name, expected: 'that it exists', found: 'none', remedy: upgrade }];
      if ((found.spec as { suspend?: boolean } | undefined)?.suspend)
        return [
          {
            name,
            expected: 'it at work',
            found: 'spec.suspend',
            remedy: `kubectl edit ${wanted.kind} ${wanted.metadata.name} -n ${wanted.metadata.namespace}`,
          },
        ];
      const other = asShipped[wanted.kind]?.find((field) => differsIn(field, wanted, found));
      if (other) return [{ name, expected: `its ${other} as shipped`, found: 'another', remedy: upgrade }];
      const why = untrue(found, 'Ready');
      return why ? [{ name, expected: 'it to be Ready', found: why, remedy: remedyOf(wanted) }] : [];
    });

/** Knative's webhook adds fields to references, but none to filters: an additional filter is a difference. */
function differsIn(field: string, wanted: AnyObject, found: AnyObject): boolean {
  const [ours, theirs] = [wanted, found].map(({ spec }) => (spec as Record<string, unknown> | undefined)?.[field]);
  return field === 'filters' ? !isDeepStrictEqual(ours, theirs) : lackingIn(ours, theirs, field) !== undefined;
}

const remedyOf = ({ kind, metadata }: AnyObject) =>
  kind === 'Trigger'
    ? `check that its function exists (kubectl get ksvc,deployments -n ${metadata.namespace}), then ${upgrade}`
    : `kubectl describe ${kind} ${metadata.name} -n ${metadata.namespace}`;

/** The channels of the Brokers: a subscriber for each Trigger, and none without a Subscription. */
export function subscribers({ channels, subscriptions, shipped, there }: Installation): Finding[] {
  if (channels.length === 0) return [];
  const alive = new Set(subscriptions.map(({ metadata }) => metadata.uid));
  const uids = new Set(channels.flatMap(subscribersIn));
  const triggers = shipped
    .filter(({ kind }) => kind === 'Trigger')
    .flatMap((wanted) => there.get(manifestKey(wanted)) ?? []);
  const unheard = triggers.filter(
    (trigger) => !subscriptions.some((one) => owns(trigger, one) && uids.has(one.metadata.uid)),
  );
  return [
    ...channels.flatMap((channel): Finding[] => {
      const dead = deadIn(channel, alive);
      if (dead.length === 0) return [];
      const { name, namespace } = channel.metadata;
      return [
        {
          name: `Channel ${name}`,
          expected: 'no subscriber without its Subscription',
          found: `${dead.length} dead, which every event waits for`,
          remedy: `kubectl delete inmemorychannel ${name} -n ${namespace} (its controller creates it again)`,
        },
      ];
    }),
    ...unheard.map((trigger) => ({
      name: formatObject(trigger),
      expected: "a subscriber in its Broker's channel",
      found: 'none, so it receives no events',
      remedy: remedyFor(trigger),
    })),
    ...triggers.flatMap((trigger): Finding[] => {
      // A Trigger that is not Ready itself is another finding.
      const why = untrue(trigger, 'Ready') ? undefined : unreadyOf(trigger, subscriptions);
      const expected = 'its Subscription to be Ready';
      return why ? [{ name: formatObject(trigger), expected, found: why, remedy: remedyFor(trigger) }] : [];
    }),
  ];
}

/** Why the Subscription of a Trigger is not Ready; undefined if it is Ready or does not exist. */
const unreadyOf = (trigger: AnyObject, subscriptions: readonly AnyObject[]) =>
  subscriptions
    .filter((one) => owns(trigger, one))
    .map((one) => untrue(one, 'Ready'))
    .find((why) => why !== undefined);

/** Knative gives up a Subscription that it could not write, and reconciles it again only after ten hours. */
const remedyFor = ({ metadata }: AnyObject) =>
  `kubectl annotate subscriptions.messaging.knative.dev -n ${metadata.namespace} -l eventing.knative.dev/trigger=${metadata.name} looked-at=$(date +%s) --overwrite`;

/** A function for the Triggers and one for dead letters, all of them available. A local cluster has no objects for functions. */
export function workloads({ workloads: found, shipped }: Installation): Finding[] {
  if (found.length === 0) return [];
  const withTrigger = new Set(shipped.filter(({ kind }) => kind === 'Trigger').map(functionOf));
  return [...withTrigger, 'dead-letters'].flatMap((name): Finding[] => {
    // Knative creates a Deployment with another name for each revision.
    const workload = found.find(({ metadata }) => metadata.name === name);
    const called = `Function ${name}`;
    if (!workload)
      return [{ name: called, expected: 'that it exists', found: 'neither Service nor Deployment', remedy: upgrade }];
    if (isUp(workload)) return [];
    const why = untrue(workload, workload.kind === 'Deployment' ? 'Available' : 'Ready') ?? 'it is being rolled out';
    // If its image cannot be pulled, a Service may have a revision but no pod.
    const what = workload.apiVersion === KnativeService.apiVersion ? 'revisions.serving.knative.dev,pods' : 'pods';
    const remedy = `kubectl describe ${what} -n ${workload.metadata.namespace} -l app.kubernetes.io/name=${name}`;
    return [{ name: called, expected: 'it to be available', found: why, remedy }];
  });
}
