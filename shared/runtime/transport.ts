import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { HttpMethod, type KubeConfig, RequestContext } from '@kubernetes/client-node';
import { Agent, type Dispatcher, request } from 'undici';
import { boundedText } from './bounded-text.ts';
import { NoAnswer } from './errors.ts';

/** A request to the API server, by its path and query. */
export interface Sent {
  method: HttpMethod;
  path: string;
  body?: { text: string; contentType: string } | undefined;
  /** A longer answer is not read. */
  mostBytes?: number | undefined;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Undefined if it has more than `mostBytes`. */
  text: string | undefined;
}

/** How long an unused connection is kept: less than the minute of balancers; undici's own 4 s would cost a handshake for most events. */
const idleMs = 30_000;

/**
 * Sends requests to the cluster that `config` points at, over connections that are kept, and throws NoAnswer for one without a whole
 * answer in that time. The library's own transport is fetch, at twice the CPU. It is asked for credentials and certificates at each
 * request, because they expire and are replaced in their files.
 */
export function transport(config: KubeConfig, timeoutMs: number): (sent: Sent) => Promise<Answer> {
  let pool: { dispatcher: Dispatcher; trust: Trust } | undefined;

  async function dispatcherFor(url: string, { ca, cert, key, rejectUnauthorized, servername }: RequestOptions) {
    const trust = { ca, cert, key, rejectUnauthorized, servername };
    if (pool && isDeepStrictEqual(pool.trust, trust)) return pool.dispatcher;
    const dispatcher = config.getCurrentCluster()?.proxyUrl ? await throughProxy(url) : direct(trust);
    // The connections of the one before end once they have been idle.
    pool = { dispatcher, trust };
    return dispatcher;
  }

  async function throughProxy(url: string): Promise<Dispatcher> {
    const context = new RequestContext(url, HttpMethod.GET);
    await config.applySecurityAuthentication(context);
    const dispatcher = context.getDispatcher();
    if (!dispatcher) throw new Error('expected a proxy for proxy-url of the kubeconfig, found none');
    return dispatcher;
  }

  return async ({ method, path, body, mostBytes }) => {
    const cluster = config.getCurrentCluster();
    if (!cluster) throw new Error('no cluster: the kubeconfig names no current context');
    const url = cluster.server + path;
    const asked: RequestOptions = {};
    await config.applyToHTTPSOptions(asked);
    const dispatcher = await dispatcherFor(url, asked);
    const headers = {
      accept: 'application/json',
      'user-agent': 'ot-functions',
      ...(body && { 'content-type': body.contentType }),
      ...(asked.auth && { authorization: `Basic ${Buffer.from(asked.auth).toString('base64')}` }),
      ...(asked.headers as OutgoingHttpHeaders),
    };
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      const options = { dispatcher, method, headers, body: body?.text ?? null, signal: late.signal };
      const { statusCode: status, headers: answered, body: stream } = await request(url, options);
      const text = await (mostBytes === undefined ? stream.text() : boundedText(stream, mostBytes));
      return { status, headers: answered, text };
    } catch (error) {
      const { pathname } = new URL(url);
      const expected = `expected an answer to ${method} ${pathname}`;
      if (late.signal.aborted) throw new NoAnswer(`${expected} within ${timeoutMs / 1000} s, found none`);
      throw new NoAnswer(`${expected}, found none: ${reasonOf(error)}`);
    } finally {
      clearTimeout(timer);
    }
  };
}

type Trust = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'>;

/** Requests by HTTP/2 cost twice the CPU. */
const direct = (trust: Trust) => new Agent({ allowH2: false, keepAliveTimeout: idleMs, connect: trust });

/** Why a connection failed. If a host has several addresses, each has failed and the aggregate has no message. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
};
