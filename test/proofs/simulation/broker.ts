import type { StoreEvent } from '../../../deploy/local/api-server/watch-log.ts';
import { type EventAttributes, isWanted } from '../../../shared/event-filter.ts';
import {
  type Batch,
  type FunctionDeclaration,
  type Message,
  noEvents,
  type Signed,
  type Subject,
  type Subscription,
} from '../../../shared/function.ts';
import type { LabelSelector } from '../../../shared/kubernetes/selectors.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import type { DomainEvent } from '../../../shared/runtime/publish.ts';
import type { Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';

/** Delivers an event to a function; rejects if it must be delivered again. */
export type Deliver = (functionName: string, batch: Batch) => Promise<void>;

/** As in most generated Triggers (knative/broker.ts): each retry waits twice as long as the last, also after a timeout. */
const retries = 8;
const firstRetryMs = 200;
const timeoutMs = 10_000;

export const sweepMs = 30_000;
/** Ten times as often as in a cluster, so that a run waits for few sweeps. */
export const auditMs = 60_000;

/** The milliseconds between two timer events. */
export type Timers = Readonly<Record<'sweep' | 'audit', number>>;

/**
 * Simulates sources, timers, Broker and Triggers: delivers events at least once, in any order, or never. An event that it gives
 * up is lost, as after a dead letter.
 */
export class Broker {
  /** By the kind of object, the type of event or the timer that they are for. */
  readonly #subscriptions: ReadonlyMap<string, readonly { name: string; subscription: Subscription }[]>;
  readonly #scheduler: Scheduler;
  readonly #faults: Faults;
  readonly #deliver: Deliver;
  readonly #isDeaf: boolean;
  #heldUntilMs = 0;
  #losesUntilMs = 0;

  constructor(
    declarations: readonly FunctionDeclaration[],
    {
      scheduler,
      faults,
      deliver,
      isDeaf,
      timers = { sweep: sweepMs, audit: auditMs },
    }: { scheduler: Scheduler; faults: Faults; deliver: Deliver; isDeaf: boolean; timers?: Timers },
  ) {
    const all = declarations.flatMap(({ name, on }) => on.map((subscription) => ({ name, subscription })));
    this.#subscriptions = Map.groupBy(all, ({ subscription }) => topicOf(subscription));
    this.#scheduler = scheduler;
    this.#faults = faults;
    this.#deliver = deliver;
    this.#isDeaf = isDeaf;
    scheduler.every(timers.sweep, () => this.#time('sweep'));
    scheduler.every(timers.audit, () => this.#time('audit'));
  }

  /** An object has changed: an event of its source, in Reference mode. */
  changed({ type, object }: Pick<StoreEvent, 'type' | 'object'>) {
    const verb = ({ ADDED: 'add', MODIFIED: 'update', DELETED: 'delete' } as const)[type];
    const { apiVersion, kind, metadata } = object;
    const subject: Subject = { apiVersion, kind, namespace: metadata.namespace, name: metadata.name, verb };
    const event = { ...subject, apiversion: apiVersion, type: `dev.knative.apiserver.ref.${verb}` };
    this.#tell(kind, (subscription) => isWokenBy(subscription, event, metadata.labels), {
      ...noEvents,
      subjects: [subject],
    });
  }

  /** A function or a pipeline posted an event. */
  posted(event: DomainEvent, from: string, signed?: Signed) {
    const { type, id, data, attributes } = event;
    const time = new Date(this.#scheduler.now()).toISOString();
    const message: Message = { id, type, source: from, time, data, signed };
    this.#tell(type, (subscription) => isWanted([subscription], { ...attributes, type }), {
      ...noEvents,
      messages: [message],
    });
  }

  heal() {
    this.#heldUntilMs = 0;
    this.#losesUntilMs = 0;
  }

  #time(timer: 'sweep' | 'audit') {
    this.#bring(this.#subscribers(timer), { ...noEvents, [timer]: true });
  }

  /** Delivers a change or a fact to its subscribers; if the plan is `deaf`, to none. */
  #tell(topic: string, accepts: (subscription: Subscription) => boolean, batch: Batch) {
    const names = this.#subscribers(topic, accepts);
    if (names.length > 0 && !this.#isDeaf) this.#bring(names, batch);
  }

  #subscribers(topic: string, accepts: (subscription: Subscription) => boolean = () => true): string[] {
    const accepting = this.#subscriptions.get(topic)?.filter(({ subscription }) => accepts(subscription)) ?? [];
    return [...new Set(accepting.map(({ name }) => name))];
  }

  #bring(names: readonly string[], batch: Batch) {
    const number = this.#faults.count('event');
    const now = this.#scheduler.now();
    const outage = this.#faults.at(number, 'brokerOutage');
    if (outage) this.#heldUntilMs = now + outage.seconds * 1000;
    if (outage?.loses) this.#losesUntilMs = this.#heldUntilMs;
    if (now < this.#losesUntilMs || this.#faults.at(number, 'eventDropped')) return;
    const late = this.#faults.at(number, 'eventDelayed');
    const twice = this.#faults.at(number, 'eventDoubled');
    for (const name of names) {
      this.#in(late ? late.seconds * 1000 : 0, () => this.#attempt(name, batch, 0));
      if (twice) this.#in(twice.seconds * 1000, () => this.#attempt(name, batch, 0));
    }
  }

  #attempt(name: string, batch: Batch, failed: number): void {
    const leftMs = this.#heldUntilMs - this.#scheduler.now();
    if (leftMs > 0) return void this.#scheduler.heldUp(leftMs, () => this.#attempt(name, batch, failed));
    let isOver = false;
    const end = (isTaken: boolean) => {
      if (isOver) return;
      isOver = true;
      giveUp();
      if (!isTaken && failed < retries)
        this.#scheduler.after(firstRetryMs * 2 ** failed, () => this.#attempt(name, batch, failed + 1));
    };
    const giveUp = this.#scheduler.after(timeoutMs, () => end(false));
    // The reconcile takes many steps: this one ends when it has begun.
    this.#deliver(name, batch).then(
      () => end(true),
      () => end(false),
    );
  }

  #in(delayMs: number, step: () => void) {
    if (delayMs > 0) this.#scheduler.heldUp(delayMs, step);
    else this.#scheduler.add(step);
  }
}

function topicOf(subscription: Subscription): string {
  if (subscription.on === 'changed') return subscription.resource.kind;
  return subscription.on === 'event' ? subscription.type : subscription.on;
}

/** The source sends the change, and the Trigger accepts it. */
function isWokenBy(
  subscription: Subscription,
  event: EventAttributes,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  if (subscription.on !== 'changed') return false;
  if (subscription.source === 'own' && event.namespace !== operatorNamespace) return false;
  return isSelected(subscription.selector, labels) && isWanted([subscription], event);
}

const isSelected = (
  { matchLabels = {}, matchExpressions = [] }: LabelSelector = {},
  labels: Readonly<Record<string, string>>,
) =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key }) => key in labels);
