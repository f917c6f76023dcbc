import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { type Batch, type DeadLetter, type FunctionDeclaration, type Message, noEvents } from '../function.ts';
import { attributesOf, identityOf } from './attributes.ts';
import { backgroundWork } from './background.ts';
import { besideReconciles } from './beside.ts';
import { coalesced } from './coalesce.ts';
import { readDeadLetter } from './dead-letter.ts';
import { delayedBatches } from './delayed-batches.ts';
import { Conflict } from './errors.ts';
import { readIncoming } from './incoming.ts';
import { log, logError } from './log.ts';
import { pagedAudits } from './paged-audits.ts';
import { type Ports, type Reconciler, reconcile } from './reconcile.ts';
import { republishing } from './republish.ts';
import { spacedTimers } from './spaced-timers.ts';
import { type TraceOrigins, traceOrigins } from './telemetry/origins.ts';

/** A function as an HTTP app: an event in, a reconcile (observe → decide → perform), an empty answer out. */
export function serve<Observed>(served: FunctionDeclaration<Observed>, ports: Ports) {
  const app = new Hono();
  const declaration = served as FunctionDeclaration;
  const background = backgroundWork();
  const origins = traceOrigins();
  const later = delayedBatches((about) => enqueue({ ...noEvents, subjects: [about] }), ports.after, ports.now);
  const republish = republishing(declaration, ports);
  const { requeueAfter } = later;
  const beside = besideReconciles(requeueAfter, ports.random);
  const context = { app, declaration, ports, background, beside, origins, republish, requeueAfter };
  const shared = coalesced((batch) => reconcile(context, batch, origins.take()));
  const paged = pagedAudits(context, shared);
  const enqueue = ports.timerSpacing ? spacedTimers(paged, ports.now, ports.timerSpacing) : paged;
  app.get('/health/:probe', (c) => c.text('ok'));
  const takesLetters = declaration.on.some((subscription) => subscription.on === 'deadLetter');
  const route = takesLetters ? '/:failed?' : '/';
  app.use(async (c, next) => {
    const startedMs = ports.now();
    await next();
    ports.telemetry.measure('http.server.request.duration', (ports.now() - startedMs) / 1000, {
      'http.request.method': c.req.method === 'POST' ? 'POST' : '_OTHER',
      'http.response.status_code': String(c.res.status),
      'http.route': route,
      'url.scheme': 'http',
    });
  });
  if (takesLetters) deadLetterRoute(context);
  else eventRoute(context, enqueue);
  /** Resolves when all that was begun is done, and published if it can be: for SIGTERM. */
  const drain = async () => {
    later.cancelAll();
    await background.drain();
    background.waitUntil(republish(true));
    await background.drain();
  };
  return { app, drain };
}

/** What the routes of a function share. */
interface RouteContext extends Reconciler<unknown> {
  app: Hono;
  origins: TraceOrigins;
}

/** The Broker tries again on 409 and 5xx only (knative.dev/eventing, pkg/kncloudevents/retries.go). */
const answers = { done: 202, ignored: 204, malformed: 400, tooLarge: 413, conflict: 409, later: 503 } as const;

const maxBodyBytes = 1024 * 1024;

/** The route on which a function receives its events; each is answered when its reconcile is over. */
function eventRoute(context: RouteContext, enqueue: (batch: Batch) => Promise<void>): void {
  const { app, declaration, background, origins } = context;
  const { name } = declaration;
  app.post('/', bodyLimit({ maxSize: maxBodyBytes, onError: (c) => c.body(null, answers.tooLarge) }), async (c) => {
    const answered = answering(context);
    const headers = c.req.header();
    const body = await c.req.text();
    const incoming = readIncoming(declaration, headers, body);
    if ('ignored' in incoming) return c.body(null, answered('ignored'));
    if ('faults' in incoming) {
      const faults = shortened(incoming.faults);
      log('warn', name, `refused an event: ${faults.join('; ')}`, identityOf(attributesOf(c.req.raw.headers, body)));
      return c.json({ faults }, answered('malformed'));
    }
    origins.note(headers);
    const result = enqueue(incoming.batch).then(
      () => 'done' as const,
      (error: unknown) => failed(name, error),
    );
    // Also if the sender waits no longer.
    background.waitUntil(result);
    return c.body(null, answered(await result));
  });
}

/**
 * The faults as far as 700 bytes of JSON hold them: an answer of over 768 bytes to an event that goes to a dead letter sink
 * ends the process of Knative's dispatcher (knative-extensions/eventing-natss#434).
 */
function shortened(faults: readonly string[]): string[] {
  const most = 700;
  const kept: string[] = [];
  for (const fault of faults) {
    const short = ascii(fault).slice(0, 300);
    if (JSON.stringify([...kept, short]).length > most) break;
    kept.push(short);
  }
  return kept;
}

/** One byte for each character. */
const ascii = (text: string) => text.replace(/[^\x20-\x7e]/g, '?');

/** The route for events that no function took: each is logged and answered at once; the sender is never asked to try again. */
function deadLetterRoute(context: RouteContext): void {
  const { app, declaration, ports, background, origins } = context;
  const { name } = declaration;
  const waiting: Message[] = [];
  // Batches of thousands of events, merged one by one, take seconds: a reconcile takes all letters that wait.
  const enqueue = coalesced(() =>
    reconcile(context, { ...noEvents, messages: waiting.splice(0) }, origins.take()).finally(() =>
      ports.pause(betweenReconcilesMs),
    ),
  );
  app.post('/:failed?', async (c) => {
    const answered = answering(context);
    const letter = await readDeadLetter(c.req.raw);
    if (!letter) {
      log('warn', name, 'refused a request: expected a CloudEvent, found none');
      return c.body(null, answered('malformed'));
    }
    logLetter(name, letter);
    origins.note(c.req.header());
    if (waiting.length === mostWaiting) {
      // Which function it was is in the log only.
      ports.telemetry.measure('ot.dead.letters', 1, { function: 'unknown', event: 'message' });
      return c.body(null, answered('done'));
    }
    waiting.push({ ...letter, time: undefined, data: letter });
    background.waitUntil(enqueue(noEvents).catch((error: unknown) => logError(name, error)));
    return c.body(null, answered('done'));
  });
}

/** The limit of letters that wait for a reconcile, some 3 MB; of others only the log has more than their number. */
const mostWaiting = 2000;

/** The pause between two reconciles of dead letters: of a storm, all that arrive meanwhile share one. */
const betweenReconcilesMs = 1000;

const logLetter = (name: string, { about, ...letter }: DeadLetter) => {
  const object = about && [about.kind, about.namespace, about.name].filter(Boolean).join(' ');
  log('warn', name, 'no function took an event', { ...letter, object });
};

/** The status for a result, which is measured with the time since this call. */
function answering({ declaration: { name }, ports: { telemetry, now } }: RouteContext) {
  const startedMs = now();
  return <R extends keyof typeof answers>(result: R) => {
    telemetry.measure('ot.event.handling.duration', (now() - startedMs) / 1000, { function: name, result });
    return answers[result];
  };
}

/** Trying again may help. */
function failed(name: string, error: unknown) {
  if (error instanceof Conflict) return 'conflict';
  logError(name, error);
  return 'later';
}
