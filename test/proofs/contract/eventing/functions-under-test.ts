import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** One request that a function got. */
export interface Call {
  /** When its head was there, in milliseconds of `performance.now()`. */
  atMs: number;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** When the caller hung up before the answer, on the same clock. */
  hungUpAtMs?: number;
}

/** What a function does with a call: answer, never answer, or cut the connection. */
export type Answer =
  | { status: number; headers?: Readonly<Record<string, string>>; body?: string; afterMs?: number }
  | 'never'
  | 'cut';

/** Answers a call, the first of which is number 1. */
type Behaviour = (call: Call, number: number) => Answer;

/** An HTTP server in this process that simulates any number of functions, each at a path of its own. */
export interface FunctionsUnderTest {
  /**
   * Where a function is reached; the same name is the same function. A name that ends in a slash stands for as many as
   * there are types of events: `first/` and type `made.v1` is the function `first/made.v1`.
   */
  urlOf(name: string): string;
  /** Gives a function its behaviour; without one it answers 204. */
  behave(name: string, behaviour: Behaviour): void;
  callsOf(name: string): readonly Call[];
  /** Resolves as soon as the function's calls are so, with all of them; rejects after half a minute, saying what there was. */
  until(name: string, is: (calls: readonly Call[]) => boolean): Promise<readonly Call[]>;
  close(): Promise<void>;
}

/** Starts it on all addresses, so that pods reach it too; `host` is the name they do it by. */
export async function startFunctions(host: string): Promise<FunctionsUnderTest> {
  const behaviours = new Map<string, Behaviour>();
  const calls = new Map<string, Call[]>();
  const waiting = new Set<() => void>();
  const callsOf = (name: string) => calls.get(name) ?? [];
  const changed = () => {
    for (const look of waiting) look();
  };

  const server = createServer(async (request, response) => {
    const name = nameOf(request);
    const call: Call = { atMs: performance.now(), method: request.method ?? '', headers: headersOf(request), body: '' };
    const body = await text(request);
    if (body === undefined) return;
    call.body = body;
    const number = callsOf(name).length + 1;
    calls.set(name, [...callsOf(name), call]);
    response.once('close', () => {
      if (!response.writableEnded) call.hungUpAtMs = performance.now();
      changed();
    });
    changed();
    perform(behaviours.get(name)?.(call, number) ?? { status: 204 }, response);
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, '0.0.0.0', resolve);
  await listening;
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('expected the server to listen on a port');

  return {
    callsOf,
    urlOf: (name) => `http://${host}:${address.port}/${name}`,
    behave: (name, behaviour) => behaviours.set(name, behaviour),
    until(name, is) {
      const { promise, resolve: done, reject } = Promise.withResolvers<readonly Call[]>();
      const look = () => {
        if (is(callsOf(name))) done(callsOf(name));
      };
      const giveUp = setTimeout(
        () => reject(new Error(`expected other calls of ${name} by now, found ${callsOf(name).length}`)),
        patienceMs,
      );
      waiting.add(look);
      look();
      return promise.finally(() => {
        clearTimeout(giveUp);
        waiting.delete(look);
      });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const patienceMs = 30_000;

function perform(answer: Answer, response: ServerResponse) {
  if (answer === 'never') return;
  if (answer === 'cut') {
    response.socket?.destroy();
    return;
  }
  const send = () => response.writeHead(answer.status, answer.headers).end(answer.body);
  if (answer.afterMs) setTimeout(send, answer.afterMs);
  else send();
}

function nameOf({ url = '/', headers }: IncomingMessage): string {
  const name = url.slice(1);
  return name.endsWith('/') ? `${name}${headers['ce-type']}` : name;
}

/** As they came, so that a duplicate shows; Node would join or drop it. */
function headersOf({ rawHeaders }: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

/** The body, or undefined where the caller hung up in the middle of it. */
async function text(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  try {
    for await (const part of request) parts.push(part as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(parts).toString();
}
