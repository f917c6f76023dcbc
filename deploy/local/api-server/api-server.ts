import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../clock.ts';
import type { AdmissionHook } from './admission.ts';
import { answerError, Encoder } from './answer.ts';
import { type ServiceAccountName, Tokens } from './authentication.ts';
import type { ClusterState } from './cluster-state.ts';
import { startControllers } from './controllers.ts';
import { nonResource } from './discovery.ts';
import { type Intercept, meetFault } from './fault.ts';
import { impersonated } from './impersonation.ts';
import { KindRegistry } from './kind.ts';
import { builtInKinds } from './kinds.ts';
import { kubeconfigFor } from './kubeconfig.ts';
import { assertLocal } from './local-only.ts';
import { authorise } from './rbac.ts';
import { RequestCounter, targetInWords } from './request-counter.ts';
import { type ResourceTarget, resourceTarget } from './request-target.ts';
import { serveResource } from './resource-request.ts';
import { badRequest } from './status-error.ts';
import { Store } from './store.ts';
import type { StoreContents, StoreFile } from './store-file.ts';
import { assertServed, verbOf } from './verb.ts';

export interface ApiServerOptions {
  clock: Clock;
  /** 0, the default, takes any free port. */
  port?: number;
  admission?: AdmissionHook[];
  /** Asked before each request. */
  intercept?: Intercept;
  /** The store of the objects, also of earlier runs; without it they are in memory only. The caller that opened it closes it. */
  file?: StoreFile | undefined;
  /** What is in it from the beginning, in place of what the file has. */
  contents?: StoreContents | undefined;
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
  /** The same by the very status: `user verb resource.group/subresource 403`. */
  answers(): Map<string, number>;
  /** What another server may begin with. */
  contents(): StoreContents;
  /** Ends all watches, as a restart of the server would. */
  dropWatches(): void;
  /** Forgets the history, so that watches and pages from before are answered 410. */
  compact(): void;
  /** Ends all watches and connections at once. */
  close(): Promise<void>;
}

/** How many writes watches can be told after the fact, at least. */
const historyLimit = 20_000;

/** Starts the local cluster's API server on 127.0.0.1; rejects with what to do when the port is taken. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const state: ClusterState = {
    store: new Store(historyLimit, options.file, options.contents),
    kinds: new KindRegistry(builtInKinds),
    clock: options.clock,
    admission: [...(options.admission ?? [])],
  };
  const stopControllers = await startControllers(state);
  const parts: Parts = {
    state,
    encoder: new Encoder(),
    tokens: new Tokens(options.file?.tokenKey),
    counter: new RequestCounter(),
    watches: new Set(),
    intercept: options.intercept ?? (() => undefined),
  };
  const http = createServer((request, response) => void serve(parts, request, response));
  // A client that keeps a connection for later must not find it closed at the moment of use.
  http.keepAliveTimeout = 600_000;
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
    answers: () => parts.counter.byStatus(),
    contents: () => state.store.contents(),
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
  intercept: Intercept;
}

function listen(http: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      const taken = new Error(
        `port ${port} of 127.0.0.1 is in use: stop what listens there, or choose another with --port`,
      );
      delete taken.stack;
      reject(taken);
    });
    http.listen(port, '127.0.0.1', () => resolve((http.address() as AddressInfo).port));
  });
}

async function serve(parts: Parts, request: IncomingMessage, response: ServerResponse) {
  const said = { user: '', verb: (request.method ?? '').toLowerCase(), what: request.url ?? '' };
  countOnce(response, () => parts.counter.count(said.user, said.verb, said.what, response.statusCode));
  try {
    const { pathname: path, searchParams: query } = urlOf(request);
    said.what = path;
    assertLocal(request);
    const sender = parts.tokens.userOf(request.headers.authorization, parts.state.clock.now());
    const user = impersonated(parts.state, sender, request.headers);
    said.user = user.name;
    await meetFault(parts.state.clock, parts.intercept({ method: request.method ?? '', path, user: user.name }), {
      request,
      response,
    });
    const target = resourceTarget(path, parts.state.kinds);
    if (!target) return nonResource(parts.state, { path, request, response });
    const verb = verbOf(request.method ?? '', target, query);
    Object.assign(said, { verb: verb ?? said.verb, what: targetInWords(target) });
    authorise(parts.state, user, verb ?? said.verb, { ...target, name: target.name ?? nameSelected(query) });
    if (!target.kind && !isOfBuiltInGroup(parts.state, target)) {
      return nonResource(parts.state, { path, request, response });
    }
    const kind = assertServed(target, verb);
    const onWatch = (watch: { end: () => void }) => {
      parts.watches.add(watch);
      response.once('close', () => parts.watches.delete(watch));
    };
    const { state, encoder, tokens } = parts;
    if (verb)
      await serveResource({ state, encoder, tokens, target, kind, verb, user, query, request, response, onWatch });
  } catch (error) {
    if (response.headersSent) response.destroy();
    else answerError(response, error);
  }
}

/** Who lists by one name is asked for the right to that name. */
const nameSelected = (query: URLSearchParams) =>
  /(?:^|,)metadata\.name==?([^,=]+)/.exec(query.get('fieldSelector') ?? '')?.[1];

/** Custom groups are another server's behind the real one, which answers for what it does not serve in plain text. */
const isOfBuiltInGroup = ({ kinds }: ClusterState, { group, version }: ResourceTarget) =>
  kinds.all().some((kind) => !kind.custom && kind.group === group && kind.version === version);

function urlOf({ url = '/' }: IncomingMessage): URL {
  const parsed = URL.parse(`http://localhost${url}`);
  if (!parsed) throw badRequest(`the path ${JSON.stringify(url)} is no path`);
  return parsed;
}

/** Counts before the client can read the answer, or when it is cut off. */
function countOnce(response: ServerResponse, count: () => void) {
  const counted = () => {
    response.off('prefinish', counted).off('close', counted);
    count();
  };
  response.on('prefinish', counted).on('close', counted);
}
