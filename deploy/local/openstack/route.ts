import type { Caller } from './identity/state.ts';

/** One request as a service reads it. */
export interface Asked {
  method: string;
  /** Behind the service's prefix, without the query. */
  path: string;
  /** What the route's `:name` stood for. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  headers: Readonly<Record<string, string>>;
  /** The body as JSON; undefined where there was none. */
  body: unknown;
  /** The body as it came. */
  bytes: Buffer;
  /** `req-…`, the same in the answer and in what is kept of it. */
  requestId: string;
  /** Whose token came with the request. */
  caller: Caller;
  /** The minor number of the microversion that was asked for; 0 where a service has none. */
  minor: number;
}

/** What is sent back. */
export interface Answer {
  status: number;
  /** Nothing for 204, a Buffer as it is, all else as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** What a service answers to a method and a path. */
export interface Route {
  method: string;
  pattern: URLPattern;
  /** The name a fault calls it by: `createServer`. */
  operation: string | ((body: unknown) => string);
  /** Whether it needs no token. */
  isOpen: boolean;
  answer(asked: Asked): Answer | Promise<Answer>;
}

/** `route('GET /servers/:id', 'showServer', …)`. */
export function route(call: string, operation: Route['operation'], answer: Route['answer'], isOpen = false): Route {
  const [method = '', pathname = ''] = call.split(' ');
  return { method, pattern: new URLPattern({ pathname }), operation, answer, isOpen };
}

/** The first route that fits, with what its `:names` stand for. */
export function match(routes: readonly Route[], method: string, path: string) {
  const fitting = routes.flatMap((each) => {
    const found = each.pattern.exec({ pathname: path });
    return found ? [{ route: each, params: decoded(found.pathname.groups) }] : [];
  });
  return fitting.find((each) => each.route.method === method);
}

const decoded = (groups: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value ?? '')]));

export const ok = (body: unknown, status = 200): Answer => ({ status, body });
/** An answer without one. */
export const done = (status = 204): Answer => ({ status });
