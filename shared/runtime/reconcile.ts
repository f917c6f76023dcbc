import { type Batch, type Context, type FunctionDeclaration, type Subject, withoutVerb } from '../function.ts';
import { defaultGracePeriodMs } from '../images/slots.ts';
import { keyOf } from '../kinds/resource.ts';
import type { Refusal } from '../kubernetes/refusal.ts';
import type { Background } from './background.ts';
import type { Beside } from './beside.ts';
import type { Cached } from './cache.ts';
import { mapConcurrently } from './concurrency.ts';
import { Again, Conflict } from './errors.ts';
import { type Notifier, notify } from './notify.ts';
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
  reconciler: Reconciler<Observed>,
  batch: Batch,
  origins: Origins = { traces: [], attributes: {} },
): Promise<Verdict> {
  const { declaration, ports, background, republish } = reconciler;
  const isTimed = batch.audit || batch.sweep;
  if (batch.sweep || (batch.audit && !declaration.audit)) background.waitUntil(republish());
  const attributes = {
    ...origins.attributes,
    'ot.batch': batch.audit ? 'audit' : batch.sweep ? 'sweep' : 'event',
    'faas.trigger': isTimed ? 'timer' : 'pubsub',
  };
  const tryAll = () => tryUntilDone(reconciler, batch);
  return ports.telemetry.span(`${declaration.name} reconcile`, undefined, attributes, tryAll, origins.traces);
}

/** Tries again after a conflict, after a refusal that no decision has seen, and if a decision wants to see what it wrote. */
async function tryUntilDone<Observed>(reconciler: Reconciler<Observed>, batch: Batch): Promise<Verdict> {
  const { declaration, ports, background, beside, requeueAfter } = reconciler;
  const { name } = declaration;
  const effects = { ...ports, name, telemetry: actionTelemetry(name, ports.telemetry), requeueAfter };
  const deferred = new Map<string, Promise<Decision>>();
  const run = { declaration, ports, effects, defer: deferring(reconciler, effects, deferred) };
  const refusals = new Map<string, Refusal>();
  // Kept for all tries: the object that led there may be gone by the next.
  const requeued: Subject[] = [];
  let { cached } = ports;
  for (let tries = 1; ; tries++) {
    const known = refusals.size;
    // The first try has changed objects: what events say happened to them is not all by now.
    const named = tries === 1 ? batch.subjects : batch.subjects.map(withoutVerb);
    const about = [...named, ...requeued];
    const seen = { cached, refusals: new Map(refusals), beside: beside?.known() };
    const subjects = beside?.others(about) ?? about;
    const { decisions, outcome } = await tryOnce(run, seen, { ...batch, subjects });
    for (const [key, refusal] of outcome.refusals) refusals.set(key, refusal);
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
}

/** What all tries of a reconcile share. */
interface Run<Observed> {
  declaration: FunctionDeclaration<Observed>;
  ports: Ports;
  effects: Omit<Effects, 'readMs' | 'clouds'> & Notifier;
  /** Has a decision made and performed beside the next reconciles; false if the function does not want that of it. */
  defer(observed: Observed, decideOne: () => Promise<Decided>): boolean;
}

/** A decision that was made, and what came of performing it. */
interface Decided {
  decision: Decision;
  outcome: Outcome;
}

const deferring =
  <Observed>(
    { declaration, background, beside, requeueAfter }: Reconciler<Observed>,
    effects: Run<Observed>['effects'],
    deferred: Map<string, Promise<Decision>>,
  ): Run<Observed>['defer'] =>
  (one, decideOne) => {
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

/** The limit of decisions of a reconcile that are made and performed at once. The others are not computed before one of these is done. */
const decisionsAtOnce = 32;

/** Each decision is made and performed on its own: a failed one blocks neither the others nor their events. */
async function tryOnce<Observed>(
  { declaration, ports, effects, defer }: Run<Observed>,
  seen: Pick<Context, 'cached' | 'refusals' | 'beside'>,
  batch: Batch,
): Promise<{ decisions: Decision[]; outcome: Outcome }> {
  const { kube, now, pause, clouds: clients, readSource, gracePeriodMs = defaultGracePeriodMs } = ports;
  const readMs = now();
  let clouds: Clouds | undefined;
  const openClouds: Context['openClouds'] = (allows) => {
    if (!clients) throw new Error(`${declaration.name}: expected clients for OpenStack, found none`);
    clouds = clients.open(allows);
    return clouds;
  };
  const context = { ...seen, kube, nowMs: readMs, openClouds, readSource, gracePeriodMs };
  const decideOne = async (one: Observed): Promise<Decided> => {
    const outcome = emptyOutcome();
    try {
      const actions = declaration.decide(one);
      await perform({ ...effects, readMs, clouds }, actions, outcome);
      outcome.notifications.push(...missedEvents(declaration, batch, one, actions));
      return { decision: { observed: one, error: whyRedeliver(outcome) }, outcome };
    } catch (error) {
      return { decision: { observed: one, error }, outcome };
    }
  };
  const observed = await observeReadable(declaration, context, batch);
  const others = observed.filter((one) => isUnreadable(one) || !defer(one, () => decideOne(one)));
  const yieldToEvents = yieldNowAndThen(pause);
  const outcome = emptyOutcome();
  const decisions = await mapConcurrently(others, decisionsAtOnce, async (one): Promise<Decision> => {
    await yieldToEvents();
    if (isUnreadable(one)) return { observed: { unreadable: one.unreadable }, error: one.error };
    const { decision, outcome: own } = await decideOne(one);
    for (const [key, refusal] of own.refusals) outcome.refusals.set(key, refusal);
    outcome.notifications.push(...own.notifications);
    outcome.requeued.push(...own.requeued);
    return decision;
  });
  return { decisions, outcome };
}

const emptyOutcome = (): Outcome => ({ refusals: new Map(), notifications: [], requeued: [] });

/** Why a decision that was performed without an error has to be made again soon. */
const whyRedeliver = ({ redeliver, requeued }: Outcome) => {
  const why = requeued.length > 0 ? 'what was written was not observed again' : redeliver;
  return why === undefined ? undefined : new Again(why);
};

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
