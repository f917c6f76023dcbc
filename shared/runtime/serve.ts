import { Hono } from 'hono';
import { type Batch, type Context, type FunctionDeclaration, noEvents, type Subject } from '../function.ts';
import { defaultGracePeriodMs } from '../images/slots.ts';
import type { Refusal } from '../kubernetes/refusal.ts';
import { limitConcurrency } from './concurrency.ts';
import { delayedBatches } from './delayed-batches.ts';
import { Again, Conflict } from './errors.ts';
import { deadLetterRoute, eventRoute, type RouteContext, waitUntil } from './http.ts';
import type { Kube } from './kube.ts';
import { observeReadable } from './observe.ts';
import type { Clouds, OpenStackClients } from './openstack/clouds.ts';
import { sharedPasses } from './passes.ts';
import { type Effects, notify, type Outcome, perform } from './perform.ts';
import type { EventPublisher } from './publish.ts';
import { republishing } from './republish.ts';
import { actionTelemetry } from './telemetry/action-telemetry.ts';
import { isMissedEvent, timerAlone } from './telemetry/missed-events.ts';
import { traceOrigins } from './telemetry/origins.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { isUnreadable } from './unreadable.ts';
import { type Decision, type Verdict, verdictOf } from './verdict.ts';

export interface Ports {
  kube: Kube;
  telemetry: Telemetry;
  now(): number;
  /** Waits; only for making room between two tries after a conflict, and between two passes over dead letters. */
  pause(milliseconds: number): Promise<void>;
  /** A number from 0 to 1, so that rivals do not try again in step. */
  random(): number;
  publisher: EventPublisher;
  /** For functions that work with OpenStack. */
  clouds?: OpenStackClients;
  /** Runs something later and hands back how to call it off; Node's own timers unless said otherwise. */
  after?(milliseconds: number, task: () => void): () => void;
  gracePeriodMs?: number;
}

const triesPerPass = 5;

/** A function as an HTTP app: an event in, one pass of observe → decide → perform, an empty answer out. */
export function serve<Observed>(declaration: FunctionDeclaration<Observed>, ports: Ports) {
  const background = new Set<Promise<unknown>>();
  const origins = traceOrigins();
  const republish = republishing(declaration as FunctionDeclaration, ports);
  const later = delayedBatches((about) => pass({ ...noEvents, subjects: [about] }), ports.after, ports.now);
  const run = (batch: Batch) =>
    runPass(declaration, ports, batch, origins.take(), { background, republish, requeueAfter: later.look });
  const pass = sharedPasses(run);
  const app = new Hono();
  app.get('/health/:probe', (c) => c.text('ok'));
  const context: RouteContext = { app, background, origins, pass, ...ports };
  if (declaration.on.some((subscription) => subscription.on === 'deadLetter'))
    deadLetterRoute(declaration.name, context, run);
  else eventRoute(declaration as FunctionDeclaration, context);
  /** Resolves when all that was begun is done: for SIGTERM. */
  const drain = async () => {
    later.forget();
    while (background.size > 0) await Promise.all(background);
  };
  return { app, drain };
}

/** The limit of decisions of a pass that are made and performed at once. The others are not computed before one of these is done. */
const decisionsAtOnce = 32;

/** What a process keeps from pass to pass. */
export interface Process {
  /** What goes on behind the answers. */
  background: Set<Promise<unknown>>;
  /** Publishes the domain events that are still to be published. */
  republish(): Promise<void>;
  requeueAfter(about: Subject, afterMs: number): void;
}

/** One pass of a function over the objects of its events. The verdict says which to redeliver. Throws if observing failed. */
export async function runPass<Observed>(
  declaration: FunctionDeclaration<Observed>,
  ports: Ports,
  batch: Batch,
  origins: readonly string[],
  { background, republish, requeueAfter }: Process,
): Promise<Verdict> {
  const { telemetry } = ports;
  if (batch.sweep || batch.audit) waitUntil(background, republish());
  const { kube, now, publisher } = ports;
  const { name } = declaration;
  const effects = { name, kube, now, publisher, telemetry: actionTelemetry(name, telemetry), requeueAfter };
  const tryUntilDone = async () => {
    const refusals = new Map<string, Refusal>();
    const looks: Subject[] = [];
    for (let tries = 1; ; tries++) {
      const outcome: Outcome = { refusals, notifications: [], requeued: [] };
      const known = refusals.size;
      const subjects = [...batch.subjects, ...looks];
      const decisions = await decideAll(declaration, ports, effects, { ...batch, subjects }, outcome);
      // Kept for all tries: the object that led there may be gone by the next.
      looks.push(...outcome.requeued);
      waitUntil(background, notify(effects, outcome.notifications));
      const hasConflict = decisions.some(({ error }) => error instanceof Conflict);
      if (tries === triesPerPass || !(hasConflict || wantsAnotherTry(outcome, known))) return verdictOf(decisions);
      if (hasConflict) await ports.pause(ports.random() * 10 * 2 ** tries);
    }
  };
  const attributes = { 'ot.batch': batchKind(batch) };
  return telemetry.span(`${declaration.name} pass`, undefined, attributes, tryUntilDone, origins);
}

const wantsAnotherTry = ({ refusals, requeued }: Outcome, knownRefusals: number) =>
  refusals.size > knownRefusals || requeued.length > 0;

/** Why a decision that was performed without an error has to be made again soon. */
const whyRedeliver = ({ redeliver, requeued }: Outcome) => {
  const why = requeued.length > 0 ? 'what was written was not looked at once more' : redeliver;
  return why === undefined ? undefined : new Again(why);
};

const batchKind = ({ audit, sweep }: Batch) => (audit ? 'audit' : sweep ? 'sweep' : 'event');

/** Each decision is performed on its own: a failed decision blocks neither the others nor their events. */
async function decideAll<Observed>(
  declaration: FunctionDeclaration<Observed>,
  { kube, now, clouds: clients, gracePeriodMs = defaultGracePeriodMs }: Ports,
  effects: Omit<Effects, 'readMs' | 'clouds'>,
  batch: Batch,
  outcome: Outcome,
): Promise<Decision[]> {
  const { decide, part } = declaration;
  const readMs = now();
  let opened: Clouds | undefined;
  const openClouds: Context['openClouds'] = (allows) => {
    if (!clients) throw new Error(`${effects.name}: expected clients for OpenStack, found none`);
    opened = clients.open(allows);
    return opened;
  };
  const context = { kube, nowMs: readMs, refusals: new Map(outcome.refusals), openClouds, gracePeriodMs };
  const observed = await observeReadable(declaration, context, batch);
  const timer = timerAlone(batch);
  const limited = limitConcurrency(decisionsAtOnce);
  const made = observed.map((one) =>
    limited(async (): Promise<Decision> => {
      if (isUnreadable(one)) return { observed: { unreadable: one.unreadable }, error: one.error };
      const own: Outcome = { refusals: new Map(), notifications: [], requeued: [] };
      try {
        const actions = decide(one);
        await perform({ ...effects, readMs, clouds: opened }, actions, own);
        // Nothing in OpenStack sends events: what is found there is found by looking.
        if (timer && part === undefined && isMissedEvent(decide, one, actions, timer))
          own.notifications.push({
            do: 'measure',
            metric: 'ot.events.missed',
            value: 1,
            attributes: { function: effects.name, timer },
          });
        return { observed: one, error: whyRedeliver(own) };
      } catch (error) {
        return { observed: one, error };
      } finally {
        for (const [key, refusal] of own.refusals) outcome.refusals.set(key, refusal);
        outcome.notifications.push(...own.notifications);
        outcome.requeued.push(...own.requeued);
      }
    }),
  );
  return Promise.all(made);
}
