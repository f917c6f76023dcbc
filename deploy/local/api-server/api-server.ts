import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, delay } from '../clock.ts';
import type { AdmissionHook } from './admission.ts';
import { answerError, Encoder } from './answer.ts';
import { type ServiceAccountName, Tokens, type User } from './authentication.ts';
import type { ClusterState } from './cluster-state.ts';
import { startControllers } from './controllers.ts';
import { nonResource } from './discovery.ts';
import { KindRegistry } from './kind.ts';
import { builtInKinds } from './kinds.ts';
import { kubeconfigFor } from './kubeconfig.ts';
import { authorise } from './rbac.ts';
import { RequestCounter, targetInWords } from './request-counter.ts';
import { resourceTarget } from './request-target.ts';
import { assertServed, serveResource, verbOf } from './resource-request.ts';
import { StatusError } from './status-error.ts';
import { Store } from './store.ts';

/** What a test lets go wrong with a request: refused with a status, answered late, or done but never answered. */
export type Fault = { status: number } | { delayMs: number } | { loseAnswer: true };

export interface ApiServerOptions {
  clock: Clock;
  /** 0, the default, takes any free port. */
  port?: number;
  admission?: AdmissionHook[];
  /** How many writes watches can be told after the fact, at least; fewer make 410 likelier. */
  historyLimit?: number;
  /** Asked before each request. */
  intercept?: (request: { method: string; path: string; user: string }) => Fault | undefined;
}

export interface ApiServer {
  /** `http://127.0.0.1:port`. */
  url: string;
  port: number;
  /** A kubeconfig (YAML) for this server: of the ServiceAccount whose token it is given, else of the admin. */
  kubeconfig(token?: string): string;
  tokenFor(serviceAccount: ServiceAccountName): string;
  addAdmission(hook: AdmissionHook): void;
  /** How many requests were answered, by `user verb resource.group/subresource 2xx`. */
  requests(): Map<string, number>;
  /** Ends all watches, as a restart of the server would. */
  dropWatches(): void;
  /** Forgets the history, so that watches and pages from before are answered 410. */
  compact(): void;
  /** Ends all watches and connections at once. */
  close(): Promise<void>;
}

/** Starts the local cluster's API server on 127.0.0.1; rejects with what to do when the port is taken. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const state: ClusterState = {
    store: new Store(options.historyLimit ?? 20_000),
    kinds: new KindRegistry(builtInKinds()),
    clock: options.clock,
    admission: [...(options.admission ?? [])],
  };
  const stopControllers = await startControllers(state);
  const parts: Parts = {
    state,
    encoder: new Encoder(),
    tokens: new Tokens(),
    counter: new RequestCounter(),
    watches: new Set(),
    intercept: options.intercept ?? (() => undefined),
  };
  const http = createServer((request, response) => void serve(parts, request, response));
  const port = await listen(http, options.port ?? 0);
  const url = `http://127.0.0.1:${port}`;
  const dropWatches = () => {
    for (const watch of [...parts.watches]) watch.end();
  };
  return {
    url,
    port,
    kubeconfig: (token) => kubeconfigFor(url, token),
    tokenFor: (account) => parts.tokens.tokenFor(account),
    addAdmission: (hook) => state.admission.push(hook),
    requests: () => parts.counter.counts(),
    dropWatches,
    compact: () => state.store.compact(),
    close: () => {
      stopControllers();
      dropWatches();
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      http.closeAllConnections();
      return closed;
    },
  };
}

interface Parts {
  state: ClusterState;
  encoder: Encoder;
  tokens: Tokens;
  counter: RequestCounter;
  watches: Set<{ end: () => void }>;
  intercept: NonNullable<ApiServerOptions['intercept']>;
}

function listen(http: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      const taken = new Error(`port ${port} of 127.0.0.1 is in use: stop what listens there, or choose another with --port`);
      delete taken.stack;
      reject(taken);
    });
    http.listen(port, '127.0.0.1', () => resolve((http.address() as AddressInfo).port));
  });
}

async function serve(parts: Parts, request: IncomingMessage, response: ServerResponse) {
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
  const said = { user: '', verb: (request.method ?? '').toLowerCase(), what: path };
  response.once('close', () => parts.counter.count(said.user, said.verb, said.what, response.statusCode));
  try {
    assertLoopback(request.headers.host);
    const user = parts.tokens.userOf(request.headers.authorization);
    said.user = user.name;
    await meetFault(parts, request, path, user, response);
    const target = resourceTarget(path, parts.state.kinds);
    if (!target) return nonResource(parts.state, { path, request, response });
    const verb = verbOf(request.method ?? '', target, query);
    Object.assign(said, { verb: verb ?? said.verb, what: targetInWords(target) });
    authorise(parts.state, user, verb ?? said.verb, target);
    const kind = assertServed(target, verb);
    const onWatch = (watch: { end: () => void }) => {
      parts.watches.add(watch);
      response.once('close', () => parts.watches.delete(watch));
    };
    const { state, encoder } = parts;
    if (verb) await serveResource({ state, encoder, target, kind, verb, user, query, request, response, onWatch });
  } catch (error) {
    if (response.headersSent) response.destroy();
    else answerError(response, error);
  }
}

/** Refuses a browser that was led here by a name someone else's DNS points at 127.0.0.1. */
function assertLoopback(host = '') {
  if (/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(host)) return;
  throw new StatusError(403, 'Forbidden', `the Host header must name this machine (localhost or 127.0.0.1), not ${JSON.stringify(host)}`);
}

const reasons: Record<number, string> = {
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

async function meetFault({ state, intercept }: Parts, { method = '' }: IncomingMessage, path: string, user: User, response: ServerResponse) {
  const fault = intercept({ method, path, user: user.name });
  if (!fault) return;
  if ('delayMs' in fault) return delay(state.clock, fault.delayMs);
  if ('loseAnswer' in fault) {
    response.end = () => response.destroy();
    return;
  }
  const { status } = fault;
  const details = status === 429 || status === 503 ? { retryAfterSeconds: 1 } : {};
  throw new StatusError(status, reasons[status] ?? 'Unknown', `${method} ${path} was refused on purpose with ${status}`, details);
}
