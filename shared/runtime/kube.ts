import { setTimeout as sleep } from 'node:timers/promises';
import { HttpMethod, type KubeConfig, Watch } from '@kubernetes/client-node';
import type { KubernetesObject, ObjectReference, Resource } from '../kinds/resource.ts';
import { limitConcurrency } from './concurrency.ts';
import { ApiError, hasStatus, NoAnswer } from './errors.ts';
import { type Answer, reasonOf, transport } from './transport.ts';

export interface ListOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** The most objects of the first page, for who asks only whether there is any. */
  limit?: number;
}

export interface Preconditions {
  uid?: string;
  resourceVersion?: string;
}

export type WatchEvent<T extends KubernetesObject> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T };

/** The API server as a client of any kind sees it: one method for each verb. */
export interface Kube {
  /** The object, or undefined if it does not exist; for a kind that is not served an error. */
  get<T extends KubernetesObject>(resource: Resource<T>, ref: ObjectReference): Promise<T | undefined>;
  /** All that match, read in pages of about a megabyte, never of more than four, against one resourceVersion; a page that fails fails the whole. */
  list<T extends KubernetesObject>(resource: Resource<T>, options?: ListOptions): Promise<T[]>;
  /** The same page by page, for what can be large; `resourceVersion` is the one all pages were read at. */
  pages<T extends KubernetesObject>(
    resource: Resource<T>,
    options?: ListOptions,
  ): AsyncIterable<{ items: T[]; resourceVersion: string }>;
  create<T extends KubernetesObject>(resource: Resource<T>, object: unknown, fieldManager?: string): Promise<T>;
  /** PUT; carries the object's own resourceVersion, so that a rival's write makes it a 409. */
  replace<T extends KubernetesObject>(resource: Resource<T>, object: T, fieldManager?: string): Promise<T>;
  /** JSON merge patch; put uid and resourceVersion into the patch's metadata to make it conditional. */
  patch<T extends KubernetesObject>(
    resource: Resource<T>,
    ref: ObjectReference,
    patch: unknown,
    options?: { subresource?: 'status'; fieldManager?: string },
  ): Promise<T>;
  /** Server-side apply; without `force` a field of another manager makes it a 409. */
  apply<T extends KubernetesObject>(
    resource: Resource<T>,
    object: { metadata: ObjectReference },
    options: { fieldManager: string; force?: boolean; subresource?: 'status' },
  ): Promise<T>;
  /** Deletes; an object that is gone already, or whose kind is not served, is no error. A grace period of 0 is what a kubelet says of a Pod that it has ended. */
  delete(
    resource: Resource,
    ref: ObjectReference,
    preconditions?: Preconditions,
    gracePeriodSeconds?: number,
  ): Promise<void>;
  /** Calls `onEvent` for every change after `resourceVersion` until the signal aborts or the connection ends. */
  watch<T extends KubernetesObject>(
    resource: Resource<T>,
    options: ListOptions & { resourceVersion?: string; signal: AbortSignal },
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void>;
}

const pathOf = (resource: Resource, ref: { namespace?: string | undefined; name?: string }, subresource?: string) =>
  [
    resource.apiVersion.includes('/') ? '/apis' : '/api',
    resource.apiVersion,
    ...(resource.namespaced && ref.namespace ? ['namespaces', encodeURIComponent(ref.namespace)] : []),
    resource.plural,
    ...(ref.name ? [encodeURIComponent(ref.name)] : []),
    ...(subresource ? [subresource] : []),
  ].join('/');

/**
 * What the API server takes for a name in a path (apimachinery, pkg/api/validation/path/name.go): nothing stands under any
 * other. Users write names into specs, and an invalid name has to mean a missing object, not an error for everything read with it.
 */
const isInPath = (name: string) =>
  name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name) && name.isWellFormed();

type Query = Record<string, string | undefined>;

const withQuery = (path: string, query: Query) => {
  const search = new URLSearchParams(
    Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString();
  return search ? `${path}?${search}` : path;
};

/** What a page of a list is to have: less would cost requests, more would hold up all else in the process while it is parsed. */
const pageBytes = 1024 * 1024;

/** A longer page is not read: authors decide how large their objects are. */
const mostPageBytes = 4 * pageBytes;

/** The limits of objects: for a first page, whose objects may have any size, and for any other. */
const firstPage = 250;
const mostPerPage = 500;

/** The limit for the next page, given how large the objects of this one were. */
const nextPage = (count: number, bytes: number) =>
  Math.min(mostPerPage, Math.max(1, Math.floor((count * pageBytes) / bytes)));

class TooLong extends Error {}

/** Of a watch that brings nothing for half a minute, which the library ends. */
const isTimeout = (error: unknown) => error instanceof Error && error.name === 'TimeoutError';

/**
 * What the API server does with fields that a kind does not know: drops them with a warning in a header that is not read,
 * or refuses the object (400). Strict is for tests: with outdated definitions the functions have to continue.
 */
type FieldValidation = 'Warn' | 'Strict';

/**
 * The limit for the whole answer to a request. What a reconcile has read grows old meanwhile, and undici alone would wait five
 * minutes; an API server that needs as long as this is not serving.
 */
export const requestTimeoutMs = 15_000;

/**
 * The limit of concurrent requests of a client, watches not counted. The API server's priority and fairness gives one account a few
 * hundred seats, and a list may take ten: it would refuse most of a thousand concurrent requests.
 */
export const requestsInFlight = 32;

/** An overloaded API server answers with Retry-After. These limit the attempts and the waiting time of one request. */
const maxTries = 5;
const maxWaitMs = 10_000;

/**
 * A client for the cluster that `config` points at. Its requests throw ApiError for an answer other than success, and Error where
 * none comes in time; a request that was given up may have been done nevertheless.
 */
export function kubeClient(
  config: KubeConfig,
  validation: FieldValidation = 'Warn',
  { timeoutMs = requestTimeoutMs, pause = sleep }: { timeoutMs?: number; pause?(ms: number): Promise<unknown> } = {},
): Kube {
  // Warn is the API server's own choice.
  const fieldValidation = validation === 'Strict' ? validation : undefined;
  const send = transport(config, timeoutMs);
  const limited = limitConcurrency(requestsInFlight);

  async function request<T extends KubernetesObject>(
    resource: Resource<T>,
    method: HttpMethod,
    path: string,
    query?: Query,
    body?: unknown,
    contentType?: string,
  ): Promise<T> {
    return resource.parse((await exchange(resource, method, path, query, body, contentType)).object);
  }

  /** The object that the API server answers with, and how long its text was. Throws TooLong for one of more than `mostBytes`. */
  async function exchange(
    resource: Resource,
    method: HttpMethod,
    path: string,
    query: Query = {},
    body?: unknown,
    contentType = 'application/json',
    mostBytes?: number,
  ): Promise<{ object: unknown; length: number }> {
    const sent = {
      method,
      path: withQuery(path, query),
      body: body === undefined ? undefined : { text: JSON.stringify(body), contentType },
      mostBytes,
    };
    // A request that waits keeps its place: the API server would refuse the next one as well.
    const { status, text } = await limited(async () => {
      for (let tries = 1, waitedMs = 0; ; tries++) {
        const answer = await send(sent);
        const waitMs = retryAfterMs(method, answer);
        if (waitMs === undefined || tries === maxTries || waitedMs + waitMs > maxWaitMs) return answer;
        await pause(waitMs);
        waitedMs += waitMs;
      }
    });
    if (text === undefined) throw new TooLong();
    if (status >= 300) throw apiError(resource, status, text);
    const object = parsed(text);
    if (object !== undefined) return { object, length: text.length };
    throw new Error(`expected JSON in answer to ${method} ${path}, found none`);
  }

  async function* pages<T extends KubernetesObject>(resource: Resource<T>, options: ListOptions = {}) {
    const { namespace, limit: first = firstPage, ...selectors } = options;
    let next: string | undefined;
    const path = pathOf(resource, { namespace });
    /** At most `limit` objects, or fewer if they are large; a single object of any size. */
    const read = async (limit: number): Promise<{ object: unknown; length: number }> => {
      const query = { ...selectors, limit: String(limit), continue: next };
      const mostBytes = limit > 1 ? mostPageBytes : undefined;
      try {
        return await exchange(resource, HttpMethod.GET, path, query, undefined, undefined, mostBytes);
      } catch (error) {
        if (error instanceof TooLong) return read(Math.ceil(limit / 8));
        throw error;
      }
    };
    let limit = first;
    do {
      const { object, length } = await read(limit);
      const page = object as { metadata: { continue?: string; resourceVersion: string }; items: unknown[] };
      limit = nextPage(page.items.length, length);
      yield { items: page.items.map((item) => resource.parse(item)), resourceVersion: page.metadata.resourceVersion };
      next = page.metadata.continue || undefined;
    } while (next);
  }

  return {
    pages,
    async get(resource, ref) {
      if (!isInPath(ref.name) || (ref.namespace !== undefined && !isInPath(ref.namespace))) return undefined;
      try {
        return await request(resource, HttpMethod.GET, pathOf(resource, ref));
      } catch (error) {
        if (isMissing(error, ref)) return undefined;
        throw error;
      }
    },
    async list<T extends KubernetesObject>(resource: Resource<T>, options?: ListOptions) {
      const items: T[] = [];
      for await (const page of pages(resource, options)) items.push(...page.items);
      return items;
    },
    async create(resource, object, fieldManager) {
      const { namespace } = (object as { metadata: ObjectReference }).metadata;
      const path = pathOf(resource, { namespace });
      return request(resource, HttpMethod.POST, path, { fieldManager, fieldValidation }, named(resource, object));
    },
    async replace(resource, object, fieldManager) {
      const path = pathOf(resource, object.metadata);
      return request(resource, HttpMethod.PUT, path, { fieldManager, fieldValidation }, object);
    },
    async patch(resource, ref, patch, { subresource, fieldManager } = {}) {
      const path = pathOf(resource, ref, subresource);
      const query = { fieldManager, fieldValidation };
      return request(resource, HttpMethod.PATCH, path, query, patch, 'application/merge-patch+json');
    },
    async apply(resource, object, { fieldManager, force, subresource }) {
      const query = { fieldManager, force: force ? 'true' : undefined, fieldValidation };
      const body = named(resource, object);
      const path = pathOf(resource, object.metadata, subresource);
      return request(resource, HttpMethod.PATCH, path, query, body, 'application/apply-patch+yaml');
    },
    async delete(resource, ref, preconditions, gracePeriodSeconds) {
      const options = { propagationPolicy: 'Background', preconditions, gracePeriodSeconds };
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options };
      try {
        await exchange(resource, HttpMethod.DELETE, pathOf(resource, ref), {}, body);
      } catch (error) {
        if (!hasStatus(error, 404)) throw error;
      }
    },
    async watch(resource, { namespace, signal, ...selectors }, onEvent) {
      const query = { ...selectors, allowWatchBookmarks: 'true' };
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const controller = await new Watch(config).watch(
        pathOf(resource, { namespace }),
        query,
        (type: string, object: unknown) => {
          if (type === 'ERROR') reject(apiError(resource, 410, JSON.stringify(object)));
          else if (type !== 'BOOKMARK') onEvent({ type: type as 'ADDED', object: resource.parse(object) });
        },
        (error) => (error && !signal.aborted && !isTimeout(error) ? reject(watchError(resource, error)) : resolve()),
      );
      if (signal.aborted) controller.abort();
      const abort = () => controller.abort();
      signal.addEventListener('abort', abort);
      return promise.finally(() => signal.removeEventListener('abort', abort));
    },
  };
}

/**
 * The time after which the API server accepts the same request again. Undefined if it names none, or may have performed the
 * request: only 429 means that it has not begun.
 */
function retryAfterMs(method: HttpMethod, { status, headers }: Answer): number | undefined {
  const isRefusedUnread = status === 429 || (status === 503 && method === HttpMethod.GET);
  const seconds = Number.parseInt(headers['retry-after'] ?? '', 10);
  return isRefusedUnread && seconds >= 0 ? seconds * 1000 : undefined;
}

/** The object with its kind said, as every body must. */
const named = ({ apiVersion, kind }: Resource, object: unknown) => ({ apiVersion, kind, ...(object as object) });

/** The library tells an answer other than a stream by its status alone, and fetch that there is none by these words. */
function watchError(resource: Resource, error: Error): Error {
  if ('statusCode' in error) return apiError(resource, Number(error.statusCode), error.message);
  if (error.message !== 'fetch failed') return error;
  return new NoAnswer(`expected a watch of ${resource.plural}, found none: ${reasonOf(error.cause)}`);
}

function apiError({ kind, holdsPasswords }: Resource, httpStatus: number, text: string): ApiError {
  const status = parsed(text) as
    | { code?: number; reason?: string; message?: string; details?: { name?: string } }
    | undefined;
  const answer = status ? (status.message ?? text) : text.slice(0, 1000);
  const message = holdsPasswords ? `what the API server says of a ${kind} is not repeated` : answer;
  return new ApiError(status?.code ?? httpStatus, status?.reason ?? '', message, answer, status?.details?.name);
}

/** The API server says so of this very name; a kind that is not served and a proxy without a server behind it are 404, too. */
const isMissing = (error: unknown, { name }: ObjectReference) => hasStatus(error, 404) && error.about === name;

/** Undefined for what is no JSON: the error of JSON.parse would quote it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
