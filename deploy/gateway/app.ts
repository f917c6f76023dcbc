import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { imagePublished } from '../../shared/events.ts';
import { ruleAllowing, rulesFor } from './authorize.ts';
import type { Config, Rule } from './config.ts';
import type { Sender } from './post-event.ts';
import { rateLimiter } from './rate-limiter.ts';
import { type PipelineEvent, readEvent, readName } from './read-event.ts';
import { Refusal } from './refusal.ts';
import type { Verified } from './verify-token.ts';

/** The log line of a request: never a token, a header or a body. */
export type LogLine = Readonly<Record<string, string | number | undefined>>;

/** How a request ended, in the words of the metric. */
type Result = 'done' | 'malformed' | 'refused' | 'later';

/** Makes the image that an event asks for; throws a Refusal where it does not. */
export type MakeImage = (event: PipelineEvent) => Promise<void>;

/** How far an image is, in the words of its status. */
interface ImageProgress {
  namespace: string;
  name: string;
  phase: string;
  /** Ready or failed with what was published last; absent while it is under way. */
  end?: 'ready' | 'failed';
  message: string;
}

/** The image of that name, in the namespace or the policy's first; undefined if it does not exist in one of the policy's. */
export type FindImage = (named: { name: string; namespace?: string | undefined }) => Promise<ImageProgress | undefined>;

/** What the gateway does with images. */
export interface Images {
  make: MakeImage;
  find: FindImage;
}

interface GatewayPorts extends Images {
  /** The configuration and its verifier as they are now; both change together. */
  current(): { config: Config; verify(authorization: string | undefined): Promise<Verified> };
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

/**
 * The way in for pipelines outside the cluster: POST / with one CloudEvent, GET /?name=… for how far its image is, both with a token of
 * the CI's own.
 */
export function gatewayApp(ports: GatewayPorts): Hono<Env> {
  const { current, make, find, post, now } = ports;
  const turn = rateLimiter(now);
  const app = new Hono<Env>();
  app.get('/health/:probe', (c) => c.text('ok'));
  app.use('/', async (c, next) => {
    c.set('startedMs', now());
    c.set('line', {});
    await next();
  });
  // Authentication comes first: the body of an unknown sender is not read.
  app.on(['GET', 'POST'], '/', async (c, next) => {
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
        `expected at most ${config.requestsPerMinute} requests a minute; wait ${tooMany.waitSeconds} s`,
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
  // A caller that may publish an image may read its progress.
  app.get('/', async (c) => {
    const named = readName(c.req.query());
    note(c, { image: named.name, rule: ruleAllowing(c.get('caller').rules, imagePublished, named).name });
    const found = await find(named);
    if (!found) throw new Refusal(404, `expected an image ${named.name} in a namespace for images, found none`);
    report(ports, c, 200, 'done');
    return c.json(found);
  });
  app.all('/', (c) => c.json({ error: 'expected GET or POST' }, 405, { allow: 'GET, POST' }));
  app.notFound((c) => c.json({ error: 'expected the path /' }, 404));
  app.onError((error, c) => {
    const refusal =
      error instanceof Refusal ? error : new Refusal(503, 'something failed here; try again', String(error));
    const { status, message, detail } = refusal;
    report(ports, c, status, resultOf(status), detail === undefined ? message : `${message} (${detail})`);
    // A body that was not read would precede the next request.
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
