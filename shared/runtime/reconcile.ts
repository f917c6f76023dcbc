import { distinct } from '../distinct.ts';
import { type Batch, type Context, type FunctionDeclaration, keyOfSubject, type Subject } from '../function.ts';
import { defaultGracePeriodMs } from '../images/slots.ts';
import { keyOf } from '../kinds/resource.ts';
import type { Refusal } from '../kubernetes/refusal.ts';
import type { Background } from './background.ts';
import type { Beside } from './beside.ts';
import type { Cached } from './cache.ts';
import { mapConcurrently } from './concurrency.ts';
import { Again, Conflict } from './errors.ts';
import { notify } from './notify.ts';
import { observeReadable } from './observe.ts';
import type { Clouds, OpenStackClients } from './openstack/clouds.ts';
import { type Effects, type Outcome, perform } from './perform.ts';
import type { EventPublisher } from './publish.ts';
import type { ReadSource } from './sources/read-source.ts';
import type { TimerSpacing } from './spaced-timers.ts';
import { actionTelemetry } from './telemetry/action-telemetry.ts';
import { missedEvents } from './telemetry/missed-events.ts';
import type { Origins } from './telemetry/origins.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { isUnreadable } from './unreadable.ts';
import { type Decision, type Verdict, verdictOf } from './verdict.ts';

export interface Ports extends Cached {
  telemetry: Telemetry;
  now(): number;
  /** Waits: between two tries after a conflict, between many decisions, and between two reconciles of dead letters. */
  pause(milliseconds: number): Promise<void>;
  /** A number from 0 to 1, so that rivals do not retry in step. */
  random(): number;
  publisher: EventPublisher;
  /** For functions that work with OpenStack. */
  clouds?: OpenStackClients;
  /** For the function that inspects the sources of images. */
  readSource?: ReadSource;
  /** Runs something later, and returns what cancels it; Node's own timers if absent. */
  after?(milliseconds: number, task: () => void): () => void;
  gracePeriodMs?: number;
  /** None if absent, as for clocks that are driven. */
  timerSpacing?: TimerSpacing;
}

const maxTries = 5;

/** A function, and what its reconciles run with. */
export interface Reconciler<Observed> {
  declaration: FunctionDeclaration<Observed>;
  ports: Ports;
  background: Background;
  /** Without it a reconcile performs all of its decisions itself. */
  beside?: Beside;
  /** Publishes the domain events that are still to be published. */
  republish(): Promise<void>;
  requeueAfter: Effects['requeueAfter'];
}

/** Observes, decides and performs until nothing is in the way. The verdict says which events to redeliver. Throws if observing failed. */
export function reconcile<Observed>(
  { declaration, ports, background, beside, republish, requeueAfter }: Reconciler<Observed>,
  batch: Batch,
  origins: Origins = { traces: [], attributes: {} },
): Promise<Verdict> {
  const { name } = declaration;
  if (batch.sweep || (batch.audit && !declaration.audit)) background.waitUntil(republish());
  const effects = { ...ports, name, telemetry: actionTelemetry(name, ports.telemetry), requeueAfter };
  const refusals = new Map<string, Refusal>();
  const requeued: Subject[] = [];
  const deferred = new Map<string, Promise<Decision>>();
  const defer: Defer<Observed> = (one, decideOne) => {
    const object = beside && declaration.beside?.(one);
    const decided =
      object &&
      beside.perform(object, async () => {
        const { outcome, decision } = await decideOne();
        background.waitUntil(notify(effects, outcome.notifications));
        for (const subject of outcome.requeued) requeueAfter(subject, 0);
        return decision;
      });
    if (decided) {
      background.waitUntil(decided);
      deferred.set(keyOf(object.metadata), decided);
    }
    return object !== undefined;
  };
  const tryUntilDone = async () => {
    let { cached } = ports;
    for (let tries = 1; ; tries++) {
      const outcome: Outcome = { refusals, notifications: [], requeued: [] };
      const known = refusals.size;
      const isFirst = tries === 1;
      // The first try has changed objects: what events say happened to them is not all by now.
      const named = isFirst ? batch.subjects : batch.subjects.map(withoutVerb);
      const context = { ...ports, cached, beside: beside?.known() };
      const about = [...named, ...requeued];
      const subjects = beside?.others(about) ?? about;
      const decisions = await decideAll(declaration, context, { ...batch, subjects }, effects, outcome, defer);
      // Kept for all tries: the object that led there may be gone by the next.
      requeued.push(...outcome.requeued);
      background.waitUntil(notify(effects, outcome.notifications));
      const hasConflict = decisions.some(({ error }) => error instanceof Conflict);
      const isRefused = hasConflict || refusals.size > known;
      // That may come from a cache that is behind.
      if (isRefused) cached = undefined;
      const isDone = !isRefused && outcome.requeued.length === 0;
      if (isDone || tries === maxTries) return verdictOf(decisions, deferred);
      if (hasConflict) await ports.pause(ports.random() * 10 * 2 ** tries);
    }
  };
  const isTimed = batch.audit || batch.sweep;
  const attributes = {
    ...origins.attributes,
    'ot.batch': batch.audit ? 'audit' : batch.sweep ? 'sweep' : 'event',
    'faas.trigger': isTimed ? 'timer' : 'pubsub',
  };
  return ports.telemetry.span(`${name} reconcile`, undefined, attributes, tryUntilDone, origins.traces);
}

/** Why a decision that was performed without an error has to be made again soon. */
const whyRedeliver = ({ redeliver, requeued }: Outcome) => {
  const why = requeued.length > 0 ? 'what was written was not observed again' : redeliver;
  return why === undefined ? undefined : new Again(why);
};

/** The limit of decisions of a reconcile that are made and performed at once. The others are not computed before one of these is done. */
const decisionsAtOnce = 32;

/** The limit of decisions between two turns of the event loop: those that write nothing wait for nothing, and a thousand of them take long. */
const decisionsInARow = 100;

/** Every hundredth call waits until other events have had their turn, and so does each call that is made meanwhile. */
function yieldNowAndThen(pause: Ports['pause']): () => Promise<void> {
  let calls = 0;
  let turn = Promise.resolve();
  return () => {
    if (++calls % decisionsInARow === 0) turn = pause(0);
    return turn;
  };
}

/** Has a decision made and performed beside the next reconciles; false if the function does not want that of it. */
type Defer<Observed> = (
  observed: Observed,
  decideOne: () => Promise<{ decision: Decision; outcome: Outcome }>,
) => boolean;

/** Each decision is performed on its own: a failed decision blocks neither the others nor their events. */
async function decideAll<Observed>(
  declaration: FunctionDeclaration<Observed>,
  {
    kube,
    cached,
    beside,
    now,
    pause,
    clouds: clients,
    readSource,
    gracePeriodMs = defaultGracePeriodMs,
  }: Ports & Pick<Context, 'beside'>,
  batch: Batch,
  effects: Omit<Effects, 'readMs' | 'clouds'>,
  outcome: Outcome,
  defer: Defer<Observed>,
): Promise<Decision[]> {
  const readMs = now();
  let clouds: Clouds | undefined;
  const openClouds: Context['openClouds'] = (allows) => {
    if (!clients) throw new Error(`${declaration.name}: expected clients for OpenStack, found none`);
    clouds = clients.open(allows);
    return clouds;
  };
  const context = {
    kube,
    cached,
    beside,
    nowMs: readMs,
    refusals: new Map(outcome.refusals),
    openClouds,
    readSource,
    gracePeriodMs,
  };
  const decideOne = async (one: Observed): Promise<{ decision: Decision; outcome: Outcome }> => {
    const own: Outcome = { refusals: new Map(), notifications: [], requeued: [] };
    try {
      const actions = declaration.decide(one);
      await perform({ ...effects, readMs, clouds }, actions, own);
      own.notifications.push(...missedEvents(declaration, batch, one, actions));
      return { decision: { observed: one, error: whyRedeliver(own) }, outcome: own };
    } catch (error) {
      return { decision: { observed: one, error }, outcome: own };
    }
  };
  const observed = await observeReadable(declaration, context, batch);
  const others = observed.filter((one) => isUnreadable(one) || !defer(one, () => decideOne(one)));
  const yieldToEvents = yieldNowAndThen(pause);
  return mapConcurrently(others, decisionsAtOnce, async (one): Promise<Decision> => {
    await yieldToEvents();
    if (isUnreadable(one)) return { observed: { unreadable: one.unreadable }, error: one.error };
    const { decision, outcome: own } = await decideOne(one);
    for (const [key, refusal] of own.refusals) outcome.refusals.set(key, refusal);
    outcome.notifications.push(...own.notifications);
    outcome.requeued.push(...own.requeued);
    return decision;
  });
}

/**
 * Lets batches share reconciles: one runs at a time, and all batches that arrive meanwhile share the next. Its verdict answers
 * each batch. A process keeps no other state between events, and two processes need not share it.
 */
export function coalesced(run: (batch: Batch) => Promise<Verdict>): (batch: Batch) => Promise<void> {
  let isRunning = false;
  let waiting: { batch: Batch; resolve: () => void; reject: (error: unknown) => void }[] = [];

  async function runAll() {
    isRunning = true;
    while (waiting.length > 0) {
      const taken = waiting;
      waiting = [];
      const failed = (error: unknown) => async () => error;
      const verdict = await run(merged(taken.map(({ batch }) => batch))).catch(failed);
      // No reconcile waits for what is performed beside it.
      for (const { batch, resolve, reject } of taken)
        void verdict(batch).then((error) => (error === undefined ? resolve() : reject(error)), reject);
    }
    isRunning = false;
  }

  return (batch) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push({ batch, resolve, reject });
    if (!isRunning) void runAll();
    return promise;
  };
}

/** Merged once, because thousands of batches may wait while a reconcile runs. */
function merged(batches: readonly Batch[]): Batch {
  const subjects = batches.flatMap((batch) => batch.subjects);
  const messages = batches.flatMap((batch) => batch.messages);
  const audited = batches.flatMap((batch) => batch.audited ?? []);
  const totals = batches.findLast((batch) => batch.totals)?.totals;
  return {
    subjects: [...Map.groupBy(subjects, keyOfSubject).values()].flatMap(asOne),
    // A repeat has the same signature, too: an event of a stranger under the same id takes the place of none.
    messages: distinct(messages, ({ source, id, signed }) => JSON.stringify([source, id, signed])),
    sweep: batches.some(({ sweep }) => sweep),
    audit: batches.some(({ audit }) => audit),
    ...(audited.length > 0 ? { audited } : {}),
    ...(totals ? { totals } : {}),
  };
}

/** Events that say different things of an object say only that it is to be looked at. */
function asOne(events: readonly Subject[]): Subject[] {
  const [first, ...others] = events;
  if (first === undefined || others.every(({ verb }) => verb === first.verb)) return events.slice(0, 1);
  return [withoutVerb(first)];
}

const withoutVerb = ({ verb, ...subject }: Subject): Subject => subject;
