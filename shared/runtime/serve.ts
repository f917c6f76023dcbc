import { Hono } from 'hono';
import type { Action, TraceOf } from '../actions.ts';
import { type Batch, type Context, type FunctionDeclaration, noEvents, type Subject } from '../function.ts';
import { defaultGracePeriodMs } from '../images/slots.ts';
import { Lease } from '../kinds/coordination/lease.ts';
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
import { isMissedEvent, timerAlone } from './telemetry/missed-events.ts';
import { traceOrigins } from './telemetry/origins.ts';
import { imageOf, lifeIn, type Telemetry } from './telemetry/telemetry.ts';
import { traceBegunBy } from './telemetry/trace-begun.ts';
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

/**
 * Nothing is written because of what was read longer ago than this: the world has moved on, and where no resourceVersion guards
 * a write (creation, server-side apply) nothing else would notice.
 */
export const longestUseMs = 30_000;

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
  const effects = effectsOf(declaration.name, ports, requeueAfter);
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
  effects: Effects,
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
  const current: Effects = {
    ...effects,
    clouds: () => opened,
    traced: (action, run) => {
      if (('resource' in action || action.do === 'call') && now() - readMs > longestUseMs)
        throw new Conflict('what was read is too old to act upon');
      return effects.traced(action, run);
    },
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
        await perform(current, actions, own);
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

function effectsOf(
  name: string,
  { kube, now, publisher, telemetry }: Ports,
  requeueAfter: Effects['requeueAfter'],
): Effects {
  const phases = new Map<string, string>();
  return {
    name,
    kube,
    now,
    clouds: () => undefined,
    requeueAfter,
    publish: publisher.publish,
    measure: ({ metric, value, attributes, trace, since }) => {
      telemetry.measure(metric, value, attributes);
      if (trace && since) telemetry.lasted(metric, since, value, trace, { ...attributes, ...uidAttributes(trace) });
    },
    made: (object) => {
      const trace = traceBegunBy(object);
      if (trace) telemetry.made(trace);
    },
    traced: async (action, run) => {
      if (action.do === 'call')
        return telemetry.span(`call ${action.request.operation}`, action.trace, callAttributes(action, phases), run);
      if (!('resource' in action)) return run();
      try {
        return await telemetry.span(
          `${action.do} ${action.resource.kind}`,
          action.trace,
          attributesOf(action, phases),
          run,
        );
      } catch (error) {
        if (error instanceof Conflict) {
          const isLease = action.resource.kind === Lease.kind;
          telemetry.measure(isLease ? 'ot.lease.conflicts' : 'ot.write.conflicts', 1, { function: name });
        }
        throw error;
      }
    },
  };
}

/** Which object a span is about. */
const objectAttributes = (kind: string, { name, namespace }: { name: string; namespace?: string | undefined }) => ({
  'k8s.object.kind': kind,
  'k8s.object.name': name,
  ...(namespace ? { 'k8s.namespace.name': namespace } : {}),
});

type Call = Extract<Action, { do: 'call' }>;

const callAttributes = (action: Call, phases: Map<string, string>): Record<string, string> => ({
  ...objectAttributes(action.of.kind, action.of.metadata),
  'ot.openstack.service': action.request.service,
  ...lifeAttributes(action, phases),
});

type Write = Extract<Action, { resource: unknown }>;

/** What a write is about; `phases` keeps where this pass has moved each object. Never a URL, a message or a Secret. */
function attributesOf(action: Write, phases: Map<string, string>): Record<string, string> {
  const { metadata } = 'of' in action ? action.of : action.object;
  return { ...objectAttributes(action.resource.kind, metadata), ...lifeAttributes(action, phases) };
}

/** Whose doing it is part of, and where that stands. */
function lifeAttributes(action: Write | Call, phases: Map<string, string>): Record<string, string> {
  const image = imageOf(action.trace);
  const life = action.trace && lifeIn(action.trace);
  return {
    ...(action.trace && uidAttributes(action.trace)),
    ...(image && phaseAttribute('image', phaseAfter(action, image, phases))),
    ...(life && phaseAttribute(life.what, phaseAfter(action, life, phases))),
  };
}

const phaseAttribute = (what: string, phase: string | undefined): Record<string, string> =>
  phase === undefined ? {} : { [`ot.${what}.phase`]: phase };

function uidAttributes(of: TraceOf): Record<string, string> {
  const image = imageOf(of);
  const life = lifeIn(of);
  return {
    ...(image ? { 'ot.image.uid': image.uid, 'ot.image.revision': String(image.revision) } : {}),
    ...(life ? { [`ot.${life.what}.uid`]: life.uid } : {}),
  };
}

/** A write of a status moves the object it is about, and no other that its trace names. */
function phaseAfter(
  action: Write | Call,
  { uid, phase }: { uid: string; phase?: string },
  phases: Map<string, string>,
) {
  const moved = action.do === 'patchStatus' && action.status.phase;
  if (typeof moved === 'string' && 'of' in action && action.of.metadata.uid === uid) phases.set(uid, moved);
  return phases.get(uid) ?? phase;
}
