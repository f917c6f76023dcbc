import type { Action, Publish } from '../actions.ts';
import { Event } from '../kinds/core/event.ts';
import { referenceOf } from '../kinds/resource.ts';
import { hashedName } from '../kubernetes/names.ts';
import { toTime } from '../kubernetes/time.ts';
import { mapConcurrently } from './concurrency.ts';
import { ApiError } from './errors.ts';
import { logError } from './log.ts';
import type { Effects, Notification } from './perform.ts';
import { type About, type DomainEvent, type EventPublisher, postsAtOnce } from './publish.ts';
import { traceparentOf } from './telemetry/telemetry.ts';

export type Notifier = Pick<Effects, 'name' | 'kube' | 'now' | 'telemetry'> & {
  publisher: Pick<EventPublisher, 'publish'>;
};

/** The reasons of what the policy, or a missing signature, keeps an author or a sender from. */
const deniedReason = /Not(Allowed|Adopted|Authenticated)$/;

/** Measures, then publishes and records, which may take a while. No failure here fails the reconcile, or keeps back what follows. */
export async function notify(effects: Notifier, notifications: readonly Notification[]): Promise<void> {
  for (const notification of notifications) {
    if (notification.do === 'measure') effects.telemetry.measure(notification);
    if (notification.do !== 'recordEvent' || !deniedReason.test(notification.reason)) continue;
    const attributes = { function: effects.name, reason: notification.reason };
    effects.telemetry.measure({ do: 'measure', metric: 'ot.refused.attempts', value: 1, attributes });
  }
  // Facts first: they wake the functions of other systems.
  const facts = notifications.filter((notification) => notification.do === 'publish');
  const published = mapConcurrently(facts, postsAtOnce, async (fact) =>
    effects.publisher.publish(...domainEvent(fact)),
  );
  for (const notification of notifications) {
    if (notification.do !== 'recordEvent') continue;
    await recordEvent(effects, notification).catch((error: unknown) => logError(effects.name, error));
  }
  // A process that is asked to end waits for this: no other process would publish these events.
  await published;
}

/** Only what goes over the wire; others may join the trace of the image by its `traceparent`. */
export const domainEvent = (fact: Publish): [DomainEvent, About | undefined] => {
  const { type, id, subject, data, attributes, trace, about } = fact;
  const traceparent = trace ? { traceparent: traceparentOf(trace) } : {};
  return [
    { type, id, subject, data, attributes: { ...attributes, ...traceparent } },
    about && { ...referenceOf(about), uid: about.metadata.uid },
  ];
};

/** A Kubernetes Event; its name is a hash of its content, so that a repeated reconcile records it once. */
async function recordEvent(
  { kube, name, now }: Notifier,
  { about, type, reason, message, once }: Action & { do: 'recordEvent' },
) {
  const { uid, namespace } = about.metadata;
  const time = toTime(now());
  const event = {
    apiVersion: Event.apiVersion,
    kind: Event.kind,
    metadata: { name: hashedName(about.metadata.name, uid, reason, once), namespace: namespace ?? 'default' },
    involvedObject: { apiVersion: about.apiVersion, kind: about.kind, namespace, name: about.metadata.name, uid },
    type,
    reason,
    message: message.slice(0, 1024),
    source: { component: name },
    reportingComponent: name,
    reportingInstance: name,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
  try {
    await kube.create(Event, event, name);
  } catch (error) {
    // The status has what an Event reports, and a namespace that is being deleted takes no Event.
    if (!(error instanceof ApiError)) throw error;
  }
}
