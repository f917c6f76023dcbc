import * as z from 'zod';
import type { OpenStackRequest, OpenStackService } from '../../kinds/openstack/request.ts';
import { boundedText } from '../bounded-text.ts';
import type { CloudConfig } from './clouds-yaml.ts';
import { OpenStackError } from './open-stack-error.ts';

/** One call, for metrics and traces. */
export interface Call extends Pick<OpenStackRequest, 'service' | 'operation' | 'method'> {
  /** Its query contains values from users. */
  url: string;
}

export interface SessionPorts {
  fetch: typeof fetch;
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs one call and observes its result. */
  watched(call: Call, run: () => Promise<Sent>): Promise<Sent>;
  renewed(reason: 'first' | 'expired' | 'refused' | 'roles'): void;
  /** Throws for an address that the policy does not allow. */
  checked(url: string): void;
}

/** A raw answer. */
interface Sent {
  status: number;
  text: string;
  requestId: string;
  retryAfter: string | null;
  token: string | null;
}

/** The scope of a token. */
interface Login {
  project: { id: string; domain: string };
  user: { id: string };
  roles: readonly { id: string; name: string }[];
}

/** One login at one OpenStack, for one project: renewed before it expires, and once if a service refuses it. */
export interface Session {
  login(): Promise<Login>;
  /** Logs in again, because the rights of the user have changed. */
  renew(): Promise<void>;
  /** The body of the answer; undefined if it has none. Throws OpenStackError, or Error if no answer comes. */
  send(request: OpenStackRequest): Promise<unknown>;
  /** All pages of a list; `key` is the field of the items. */
  list<T>(request: OpenStackRequest, key: string, item: z.ZodType<T>): Promise<T[]>;
}

/** The timeout of a request. OpenStack may still have performed it, so a retry reads first. */
export const openStackTimeoutMs = 15_000;

const mebibyte = 1024 * 1024;
/** The limits of one answer, and of all pages of a list: the author of the credentials chooses the server. */
const mostBytes = 8 * mebibyte;
const mostListBytes = 32 * mebibyte;

/** No answer, or no address. */
export class Unreachable extends Error {
  override name = 'Unreachable';
}

/** A token is renewed if it is valid for less than this: a reconcile that begins with it may last half a minute. */
const renewBeforeMs = 120_000;

/** Nova 2.79 has tags at creation, flavors embedded, attachments with tags; Cinder 3.59 extends volumes in use. */
const microversions: Readonly<Partial<Record<OpenStackService, string>>> = {
  compute: 'compute 2.79',
  volume: 'volume 3.59',
};

/** Cinder's name in catalogues has changed twice. */
const catalogTypes: Readonly<Record<OpenStackService, readonly string[]>> = {
  identity: ['identity'],
  compute: ['compute'],
  network: ['network'],
  volume: ['block-storage', 'volumev3', 'volume'],
  image: ['image'],
};

const TokenBody = z.looseObject({
  token: z.looseObject({
    expires_at: z.string(),
    user: z.looseObject({ id: z.string() }),
    project: z.looseObject({ id: z.string(), domain: z.looseObject({ id: z.string() }) }),
    roles: z.array(z.looseObject({ id: z.string(), name: z.string() })).default([]),
    catalog: z
      .array(
        z.looseObject({
          type: z.string(),
          endpoints: z.array(
            z.looseObject({ interface: z.string(), region: z.string().nullable().default(null), url: z.string() }),
          ),
        }),
      )
      .default([]),
  }),
});
type Token = z.infer<typeof TokenBody>['token'] & { secret: string };

/** Connects only at the first request, which logs in. `project` replaces the one in clouds.yaml. */
export function openSession(config: CloudConfig, ports: SessionPorts, project?: string): Session {
  const { now, watched, renewed, checked } = ports;
  let current: Promise<Token> | undefined;

  async function exchange(request: OpenStackRequest, url: string, token: string | undefined): Promise<Sent> {
    const microversion = microversions[request.service];
    const { service, operation, method } = request;
    return watched({ service, operation, method, url }, async () => {
      const answer = await ports
        .fetch(url, {
          method: request.method,
          headers: {
            accept: 'application/json',
            ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
            ...(token === undefined ? {} : { 'x-auth-token': token }),
            ...(microversion === undefined ? {} : { 'openstack-api-version': microversion }),
          },
          ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
          // A redirect would send the token to an address that was not checked.
          redirect: 'error',
          signal: AbortSignal.timeout(openStackTimeoutMs),
        })
        .catch((error: unknown) => {
          throw new Unreachable(describeNoAnswer(request, error));
        });
      const text = await boundedText(answer.body, mostBytes).catch((error: unknown) => {
        throw new Unreachable(describeNoAnswer(request, error));
      });
      if (text === undefined) throw tooLong(request, mostBytes);
      return {
        status: answer.status,
        text,
        requestId: answer.headers.get('x-openstack-request-id') ?? '',
        retryAfter: answer.headers.get('retry-after'),
        token: answer.headers.get('x-subject-token'),
      };
    });
  }

  async function logIn(): Promise<Token> {
    checked(config.authUrl);
    const scope = project === undefined ? config.scope : { project: { id: project } };
    const body = { auth: { identity: config.identity, ...(scope ? { scope } : {}) } };
    const request: OpenStackRequest = {
      service: 'identity',
      operation: 'logIn',
      method: 'POST',
      path: '/auth/tokens',
      body,
    };
    const sent = await exchange(request, `${config.authUrl}/auth/tokens`, undefined);
    // Keystone's message about a login may quote the credentials.
    if (sent.status !== 201 || sent.token === null) throw new OpenStackError(request, { ...sent, text: '' });
    return { ...understood(request, TokenBody, parsed(request, sent.text)).token, secret: sent.token };
  }

  function renew(reason: Parameters<SessionPorts['renewed']>[0]): Promise<Token> {
    renewed(reason);
    const login = logIn();
    current = login;
    // A failed login is not cached: the next request tries again.
    login.catch(() => {
      if (current === login) current = undefined;
    });
    return login;
  }

  async function tokenNow(): Promise<Token> {
    if (!current) return renew('first');
    const asked = current;
    const token = await asked;
    if (Date.parse(token.expires_at) - now() > renewBeforeMs) return token;
    // Another request may have renewed it meanwhile.
    return current === asked || !current ? renew('expired') : current;
  }

  const addressOf = (token: Token, service: OpenStackService): string => {
    if (service === 'identity') return config.authUrl;
    const types = catalogTypes[service];
    const endpoints = token.catalog.filter(({ type }) => types.includes(type)).flatMap((entry) => entry.endpoints);
    const endpoint = endpoints.find(
      (one) => one.interface === config.interface && (config.region === undefined || one.region === config.region),
    );
    if (endpoint) return endpoint.url.replace(/\/+$/, '');
    const where = config.region === undefined ? '' : ` in region ${config.region}`;
    throw new Unreachable(
      `expected a ${config.interface} endpoint of ${types.join(' or ')}${where} in the catalogue, found none`,
    );
  };

  /** A token other than the refused one; another request may already have fetched it. */
  async function another(refused: Token): Promise<Token> {
    const known = current;
    const latest = await known?.catch(() => undefined);
    if (latest && latest.secret !== refused.secret) return latest;
    return current && current !== known ? current : renew('refused');
  }

  /** The body of the answer, and how long its text was. */
  async function ask(request: OpenStackRequest): Promise<{ body: unknown; length: number }> {
    let token = await tokenNow();
    for (let tries = 1; ; tries++) {
      const address = addressOf(token, request.service);
      checked(address);
      const sent = await exchange(request, address + request.path, token.secret);
      if (sent.status < 300)
        return { body: sent.text === '' ? undefined : parsed(request, sent.text), length: sent.text.length };
      if (sent.status !== 401 || tries > 1) throw new OpenStackError(request, sent);
      // Revoked, or expired by another clock: once.
      token = await another(token);
    }
  }

  return {
    send: async (request) => (await ask(request)).body,
    async renew() {
      await renew('roles');
    },
    async login() {
      const { project: of, user, roles } = await tokenNow();
      return { project: { id: of.id, domain: of.domain.id }, user: { id: user.id }, roles };
    },
    async list<T>(request: OpenStackRequest, key: string, item: z.ZodType<T>) {
      const items: T[] = [];
      const seen = new Set<string>();
      let bytes = 0;
      for (let path: string | undefined = request.path; path !== undefined && !seen.has(path); ) {
        // A server with endless pages is not OpenStack.
        if (seen.size === mostPages) throw notUnderstood(request);
        seen.add(path);
        // An answer without the list is not an empty list: an object that a list misses counts as deleted.
        const answer = await ask({ ...request, path });
        bytes += answer.length;
        if (bytes > mostListBytes) throw tooLong(request, mostListBytes, ' on all its pages');
        const body = understood(request, Page, answer.body);
        items.push(...understood(request, z.array(item), body[key]));
        path = nextPath(request.path, body, key);
      }
      return items;
    },
  };
}

function parsed(request: OpenStackRequest, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notUnderstood(request);
  }
}

function understood<T>(request: OpenStackRequest, schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value);
  if (!read.success) throw notUnderstood(request);
  return read.data;
}

const notUnderstood = ({ service, operation }: OpenStackRequest) =>
  new Unreachable(`expected an answer of OpenStack's ${service} service to ${operation}, found one of another form`);

const tooLong = ({ service, operation }: OpenStackRequest, bytes: number, where = '') =>
  new Unreachable(
    `expected an answer of OpenStack's ${service} service to ${operation} of at most ${bytes / mebibyte} MiB${where}, found a longer one`,
  );

const Page = z.record(z.string(), z.unknown());

/** A page has hundreds of items, and a project fewer than a hundred thousand. */
const mostPages = 1000;

/** Only the query of the link to the next page: its address may be internal to the service. */
function nextPath(path: string, body: Record<string, unknown>, key: string): string | undefined {
  const links = Links.catch([]).parse(body[`${key}_links`]);
  const next = links.find(({ rel }) => rel === 'next')?.href ?? (typeof body.next === 'string' ? body.next : undefined);
  const query = next?.split('?')[1];
  return query ? `${path.split('?')[0]}?${query}` : undefined;
}

const Links = z.array(z.looseObject({ rel: z.string().optional(), href: z.string().optional() }));

function describeNoAnswer({ service, operation }: OpenStackRequest, error: unknown): string {
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const why = isLate ? `within ${openStackTimeoutMs / 1000} s` : causeOf(error);
  return `expected an answer of OpenStack's ${service} service to ${operation}, found none (${why})`;
}

/** Node hides why a connection failed behind "fetch failed". */
function causeOf(error: unknown): string {
  const { code } = (error as { cause?: { code?: string } }).cause ?? {};
  return code ?? (error instanceof Error ? error.name : 'unknown');
}
