import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { ruleAllowing, rulesFor } from './authorize.ts';
import type { Config, Rule } from './config.ts';
import type { Sender } from './post-event.ts';
import { rateLimiter } from './rate-limiter.ts';
import { type PipelineEvent, readEvent } from './read-event.ts';
import { Refusal } from './refusal.ts';
import type { Verified } from './verify-token.ts';

/** The log line of a request: never a token, a header or a body. */
export type LogLine = Readonly<Record<string, string | number | undefined>>;

/** How a request ended, in the words of the metric. */
type Result = 'done' | 'malformed' | 'refused' | 'later';

/** Makes the image that an event asks for; throws a Refusal where it does not. */
export type MakeImage = (event: PipelineEvent) => Promise<void>;

interface GatewayPorts {
  /** The configuration and its verifier as they are now; both change together. */
  current(): { config: Config; verify(authorization: string | undefined): Promise<Verified> };
  make: MakeImage;
  /** Tells the Broker, for other subscribers. */
  post(event: PipelineEvent, sender: Sender): Promise<void>;
  now(): number;
  log(line: LogLine): void;
  measure(seconds: number, result: Result): void;
}

interface Variables {
  startedMs: number;
  line: Record<string, string | number | undefined>;
  caller: { subject: string; rules: Rule[] };
}
type Env = { Variables: Variables };

const maxBodyBytes = 1024 * 1024;

/** The way in for pipelines outside the cluster: POST / with one CloudEvent and a token of the CI's own. */
export function gatewayApp(ports: GatewayPorts): Hono<Env> {
  const { current, make, post, now } = ports;
  const turn = rateLimiter(now);
  const app = new Hono<Env>();
  app.get('/health/:probe', (c) => c.text('ok'));
  app.use('/', async (c, next) => {
    c.set('startedMs', now());
    c.set('line', {});
    await next();
  });
  // Authentication comes first: the body of an unknown sender is not read.
  app.post('/', async (c, next) => {
    const { config, verify } = current();
    const { issuer, claims } = await verify(c.req.header('authorization'));
    const subject = claims.sub ?? '';
    note(c, { issuer: issuer.name, subject: subject.slice(0, 300) });
    const rules = rulesFor(issuer, claims);
    const tooMany = turn(`${issuer.name} ${subject}`, config.requestsPerMinute);
    if (tooMany) {
      c.header('retry-after', String(tooMany.waitSeconds));
      throw new Refusal(
        429,
        `expected at most ${config.requestsPerMinute} events a minute; wait ${tooMany.waitSeconds} s`,
      );
    }
    c.set('caller', { subject, rules });
    await next();
  });
  app.post('/', bodyLimit({ maxSize: maxBodyBytes, onError: tooLarge }), async (c) => {
    const { subject, rules } = c.get('caller');
    const event = readEvent(c.req.header(), await c.req.text(), now());
    note(c, { event: event.id.slice(0, 300), type: event.type, image: event.data.name });
    note(c, { rule: ruleAllowing(rules, event.type, event.data).name });
    await make(event);
    const lost = await post(event, { subject }).then(() => undefined, whyOf);
    report(ports, c, 202, 'done', lost && `the Broker did not take it: ${lost}`);
    return c.body(null, 202);
  });
  app.all('/', (c) => c.json({ error: 'expected POST' }, 405, { allow: 'POST' }));
  app.notFound((c) => c.json({ error: 'expected POST /' }, 404));
  app.onError((error, c) => {
    const refusal =
      error instanceof Refusal ? error : new Refusal(503, 'something failed here; try again', String(error));
    const { status, message, detail } = refusal;
    report(ports, c, status, resultOf(status), detail === undefined ? message : `${message} (${detail})`);
    // A body that was not read would stand before the next request.
    c.header('connection', 'close');
    if (status === 401) c.header('www-authenticate', 'Bearer');
    return c.json({ error: message }, status);
  });
  return app;
}

const note = (c: Context<Env>, more: LogLine) => Object.assign(c.get('line'), more);

const whyOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const tooLarge = () => {
  throw new Refusal(413, `expected a body of at most ${maxBodyBytes} bytes`);
};

const resultOf = (status: Refusal['status']): Result =>
  status === 503 ? 'later' : status === 400 || status === 413 ? 'malformed' : 'refused';

function report({ log, measure, now }: GatewayPorts, c: Context<Env>, status: number, result: Result, why?: string) {
  const tookMs = now() - c.get('startedMs');
  measure(tookMs / 1000, result);
  const level = why === undefined ? 'info' : 'warn';
  log({ level, function: 'gateway', status, ...c.get('line'), message: why?.slice(0, 500), tookMs });
}
