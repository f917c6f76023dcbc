import type { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { type Batch, type DeadLetter, type FunctionDeclaration, type Message, noEvents } from '../function.ts';
import { readDeadLetter } from './dead-letter.ts';
import { Again, ApiError, Conflict } from './errors.ts';
import { readIncoming } from './incoming.ts';
import { sharedPasses } from './passes.ts';
import type { traceOrigins } from './telemetry/origins.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import type { Verdict } from './verdict.ts';

/** What the routes of a function share: the app, the shared passes, and what goes on after an answer. */
export interface RouteContext {
  app: Hono;
  background: Set<Promise<unknown>>;
  origins: ReturnType<typeof traceOrigins>;
  /** One pass over what a batch names, shared with all that wait. */
  pass: Pass;
  telemetry: Telemetry;
  now(): number;
  pause(milliseconds: number): Promise<void>;
}

type Pass = (batch: Batch) => Promise<void>;

/** The Broker tries again on 409 and 5xx only (knative.dev/eventing, pkg/kncloudevents/retries.go). */
const answers = { done: 202, ignored: 204, malformed: 400, tooLarge: 413, conflict: 409, later: 503 } as const;

const maxBodyBytes = 1024 * 1024;

/** The route on which a function receives its events; each is answered when its pass is over. */
export function eventRoute(declaration: FunctionDeclaration, context: RouteContext): void {
  const { app, background, origins, pass } = context;
  const { name } = declaration;
  app.post('/', bodyLimit({ maxSize: maxBodyBytes, onError: (c) => c.body(null, answers.tooLarge) }), async (c) => {
    const answered = answering(name, context);
    const headers = c.req.header();
    const incoming = readIncoming(declaration, headers, await c.req.text());
    if ('ignored' in incoming) return c.body(null, answered('ignored'));
    if ('faults' in incoming) {
      log('warn', name, `refused an event: ${incoming.faults.join('; ')}`);
      return c.json({ faults: shortened(incoming.faults) }, answered('malformed'));
    }
    origins.note(headers);
    const passed = pass(incoming.batch);
    waitUntil(
      background,
      passed.catch(() => undefined),
    );
    const result = await passed.then(
      () => 'done' as const,
      (error: unknown) => (error instanceof Conflict ? ('conflict' as const) : later(name, error)),
    );
    return c.body(null, answered(result));
  });
}

/**
 * The faults as far as 700 bytes of JSON hold them: an answer of over 768 bytes to an event that goes to a dead letter sink
 * ends the process of Knative's dispatcher (knative-extensions/eventing-natss#434).
 */
function shortened(faults: readonly string[]): string[] {
  const most = 700;
  const told: string[] = [];
  for (const fault of faults) {
    const short = ascii(fault).slice(0, 300);
    if (JSON.stringify([...told, short]).length > most) break;
    told.push(short);
  }
  return told;
}

/** One byte for each character. */
const ascii = (text: string) => text.replace(/[^\x20-\x7e]/g, '?');

/** The route for events that no function took: each is logged and answered at once; the sender is never asked to try again. */
export function deadLetterRoute(name: string, context: RouteContext, run: (batch: Batch) => Promise<Verdict>): void {
  const { app, background, origins, pause } = context;
  const waiting: Message[] = [];
  // Batches of thousands of events, merged one by one, take seconds: a pass takes all letters that wait.
  const pass = sharedPasses(() =>
    run({ ...noEvents, messages: waiting.splice(0) }).finally(() => pause(betweenPassesMs)),
  );
  app.post('/:failed?', async (c) => {
    const answered = answering(name, context);
    const letter = await readDeadLetter(c.req.raw);
    if (!letter) {
      log('warn', name, 'refused a request: expected a CloudEvent, found none');
      return c.body(null, answered('malformed'));
    }
    logLetter(name, letter);
    origins.note(c.req.header());
    waiting.push({ ...letter, time: undefined, data: letter });
    waitUntil(
      background,
      pass(noEvents).catch((error: unknown) => later(name, error)),
    );
    return c.body(null, answered('done'));
  });
}

/** So long after a pass over dead letters the next one begins: of a storm, all that come meanwhile share it. */
const betweenPassesMs = 1000;

const logLetter = (name: string, { about, ...letter }: DeadLetter) => {
  const object = about && [about.kind, about.namespace, about.name].filter(Boolean).join(' ');
  const message = 'no function took an event';
  console.error(JSON.stringify({ level: 'warn', function: name, message, ...letter, object }));
};

/** The status for a result, which is measured with the time since this call. */
function answering(name: string, { telemetry, now }: RouteContext) {
  const startedMs = now();
  return <R extends keyof typeof answers>(result: R) => {
    telemetry.measure('ot.event.handling.duration', (now() - startedMs) / 1000, { function: name, result });
    return answers[result];
  };
}

/** Trying again may help; why is for the operator's log, never for the sender. */
function later(name: string, error: unknown) {
  const text = error instanceof ApiError ? `${error.status} ${error.reason}: ${error.message}` : String(error);
  if (!(error instanceof Again)) log('error', name, text);
  return 'later' as const;
}

const log = (level: 'warn' | 'error', name: string, message: string) =>
  console.error(JSON.stringify({ level, function: name, message: message.slice(0, 500) }));

/** Goes on after the answer; what fails there is for the log. */
export function waitUntil(background: Set<Promise<unknown>>, promise: Promise<unknown>) {
  const settled = promise
    .catch((error: unknown) => later('notifications', error))
    .finally(() => background.delete(settled));
  background.add(settled);
}
