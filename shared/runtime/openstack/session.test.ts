import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import type { OpenStackRequest, OpenStackService } from '../../kinds/openstack/request.ts';
import type { CloudConfig } from './clouds-yaml.ts';
import { openSession, openStackTimeoutMs, Unreachable } from './session.ts';

const startMs = Date.parse('2026-01-01T00:00:00Z');
const keystone = 'https://keystone.example/v3';
const config: CloudConfig = {
  authUrl: keystone,
  identity: { methods: ['password'], password: { user: { name: 'ops', password: 'hunter2' } } },
  scope: { project: { name: 'lab' } },
  isScopable: true,
  region: undefined,
  interface: 'public',
};

interface Endpoint {
  type: string;
  url: string;
  interface?: string;
  region?: string | null;
}

const catalog: Endpoint[] = [
  { type: 'compute', url: 'https://nova.example/v2.1/' },
  { type: 'network', url: 'https://neutron.example' },
  { type: 'volumev3', url: 'https://cinder.example/v3/id-project' },
  { type: 'image', url: 'https://glance.example' },
];

interface Asked {
  request: string;
  headers: Record<string, string>;
  body: unknown;
}
type Answer = (asked: Asked) => Response | Promise<Response>;

interface Given {
  answer?: Answer;
  endpoints?: Endpoint[];
  config?: Partial<CloudConfig>;
  /** The lifetime of a token. */
  seconds?: number;
  checked?: (url: string) => void;
  project?: string;
  refusedLogins?: number;
}

const unauthorized = () => Response.json({ error: { message: 'The request needs a token.' } }, { status: 401 });

/** A session at an OpenStack with these answers, its requests, and a clock. */
function opened({ answer = () => Response.json({}), endpoints = catalog, seconds = 3600, ...given }: Given = {}) {
  const clock = { nowMs: startMs };
  const sent: Asked[] = [];
  const renewals: string[] = [];
  let tokens = 0;
  const isLogin = ({ request }: Asked) => request.endsWith('/auth/tokens');
  const logins = () => sent.filter(isLogin);
  const token = () => ({
    expires_at: new Date(clock.nowMs + seconds * 1000).toISOString(),
    user: { id: 'id-user' },
    project: { id: 'id-project', domain: { id: 'default' } },
    roles: [{ id: 'id-role', name: 'member' }],
    catalog: endpoints.map(({ type, url, interface: face = 'public', region = 'one' }) => ({
      type,
      endpoints: [{ interface: face, region, url }],
    })),
  });
  const asFetch = async (url: string, { method = 'GET', headers, body }: RequestInit) => {
    const asked = {
      request: `${method} ${url}`,
      headers: headers as Record<string, string>,
      body: body === undefined ? undefined : JSON.parse(String(body)),
    };
    sent.push(asked);
    // A network also answers asynchronously.
    await new Promise((turn) => setImmediate(turn));
    if (url !== `${keystone}/auth/tokens`) return answer(asked);
    if (logins().length <= (given.refusedLogins ?? 0)) return unauthorized();
    const subject = `token-${++tokens}`;
    return Response.json({ token: token() }, { status: 201, headers: { 'x-subject-token': subject } });
  };
  const session = openSession(
    { ...config, ...given.config },
    {
      fetch: asFetch as typeof fetch,
      now: () => clock.nowMs,
      watched: (_, run) => run(),
      renewed: (reason) => void renewals.push(reason),
      checked: given.checked ?? (() => undefined),
    },
    given.project,
  );
  return {
    session,
    clock,
    renewals,
    logins,
    /** All requests but logins. */
    asked: () => sent.filter((one) => !isLogin(one)),
  };
}

const asking = (service: OpenStackService, path = '/things', more: Partial<OpenStackRequest> = {}) =>
  ({ service, operation: 'listThings', method: 'GET', path, ...more }) as OpenStackRequest;
const servers = asking('compute', '/servers');

describe('a login', () => {
  test('is made with the first request, for the project of the file', async () => {
    const { session, logins, renewals } = opened();
    expect(logins()).toEqual([]);
    await session.send(servers);
    expect(logins()).toMatchObject([{ body: { auth: { identity: config.identity, scope: config.scope } } }]);
    expect(renewals).toEqual(['first']);
  });
  test('is made for another project where one is asked for', async () => {
    const { session, logins } = opened({ project: 'id-other' });
    await session.login();
    expect(logins()).toMatchObject([{ body: { auth: { scope: { project: { id: 'id-other' } } } } }]);
  });
  test('names no project with an application credential, which knows its own', async () => {
    const { session, logins } = opened({ config: { scope: undefined } });
    await session.login();
    expect(logins()[0]?.body).toEqual({ auth: { identity: config.identity } });
  });
  test('tells project, user and roles', async () => {
    expect(await opened().session.login()).toEqual({
      project: { id: 'id-project', domain: 'default' },
      user: { id: 'id-user' },
      roles: [{ id: 'id-role', name: 'member' }],
    });
  });
  test('is made once for many requests at once', async () => {
    const { session, logins, asked } = opened();
    await Promise.all(Array.from({ length: 20 }, () => session.send(servers)));
    expect(logins()).toHaveLength(1);
    expect(asked().map(({ headers }) => headers['x-auth-token'])).toEqual(Array(20).fill('token-1'));
  });
  test.each([
    ['not while its token is good for longer than two minutes', 3600 - 121, 1],
    ['when it is good for two minutes', 3600 - 120, 2],
    ['when it has expired', 9999, 2],
  ])('is renewed %s', async (_, seconds, logins) => {
    const found = opened();
    await found.session.send(servers);
    found.clock.nowMs += seconds * 1000;
    await Promise.all([found.session.send(servers), found.session.send(servers), found.session.send(servers)]);
    expect(found.logins()).toHaveLength(logins);
    expect(found.renewals).toEqual(['first', 'expired'].slice(0, logins));
    expect(found.asked().at(-1)?.headers['x-auth-token']).toBe(`token-${logins}`);
  });
  test('that fails is not cached: the next request logs in again', async () => {
    const { session, logins } = opened({ refusedLogins: 1 });
    await expect(session.send(servers)).rejects.toMatchObject({ status: 401, operation: 'logIn' });
    await session.send(servers);
    expect(logins()).toHaveLength(2);
  });
  test('that fails fails all that wait for it', async () => {
    const { session, logins } = opened({ refusedLogins: 1 });
    const results = await Promise.allSettled([session.send(servers), session.send(servers)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(logins()).toHaveLength(1);
  });
});

describe('a token that a service refuses', () => {
  const revoked: Answer = ({ headers }) =>
    headers['x-auth-token'] === 'token-1' ? unauthorized() : Response.json({ ok: 1 });
  test('is renewed, and the request repeated', async () => {
    const { session, asked, renewals } = opened({ answer: revoked });
    expect(await session.send(servers)).toEqual({ ok: 1 });
    expect(asked().map(({ headers }) => headers['x-auth-token'])).toEqual(['token-1', 'token-2']);
    expect(renewals).toEqual(['first', 'refused']);
  });
  test('is renewed once, and no more', async () => {
    const { session, asked, logins } = opened({ answer: unauthorized });
    await expect(session.send(servers)).rejects.toMatchObject({ status: 401, operation: 'listThings' });
    expect([asked().length, logins().length]).toEqual([2, 2]);
  });
  test('is renewed once for requests that are refused one after the other', async () => {
    const { session, logins } = opened({
      answer: async (asked) => {
        if (asked.request.endsWith('/second')) await new Promise((turn) => setTimeout(turn, 5));
        return revoked(asked);
      },
    });
    await Promise.all([session.send(servers), session.send(asking('compute', '/second'))]);
    expect(logins()).toHaveLength(2);
  });
  test('is renewed once for requests that are refused at the very same moment', async () => {
    const { promise: moment, resolve } = Promise.withResolvers<void>();
    const { session, asked, logins } = opened({ answer: (asked) => moment.then(() => revoked(asked)) });
    const all = Promise.all([session.send(servers), session.send(servers), session.send(servers)]);
    await vi.waitFor(() => expect(asked()).toHaveLength(3));
    resolve();
    await all;
    expect(logins()).toHaveLength(2);
  });
});

describe('a request', () => {
  test.each<[OpenStackService, string, string | undefined]>([
    ['compute', 'https://nova.example/v2.1/things', 'compute 2.79'],
    ['volume', 'https://cinder.example/v3/id-project/things', 'volume 3.59'],
    ['network', 'https://neutron.example/things', undefined],
    ['image', 'https://glance.example/things', undefined],
    ['identity', 'https://keystone.example/v3/things', undefined],
  ])('of %s goes to %s with its microversion', async (service, url, microversion) => {
    const { session, asked } = opened();
    await session.send(asking(service));
    expect(asked()[0]?.request).toBe(`GET ${url}`);
    expect(asked()[0]?.headers['openstack-api-version']).toBe(microversion);
  });
  test('has its body as JSON; one without a body says nothing of it', async () => {
    const { session, asked } = opened();
    await session.send(asking('compute', '/things', { method: 'POST', body: { a: 1 } }));
    await session.send(servers);
    expect(asked().map(({ headers, body }) => [headers['content-type'], body])).toEqual([
      ['application/json', { a: 1 }],
      [undefined, undefined],
    ]);
  });
  test('that is answered with nothing comes to nothing', async () => {
    const { session } = opened({ answer: () => new Response(null, { status: 204 }) });
    expect(await session.send(servers)).toBeUndefined();
  });
  test('that is refused says which it was', async () => {
    const headers = { 'x-openstack-request-id': 'req-1', 'retry-after': '7' };
    const { session } = opened({
      answer: () => Response.json({ tooFast: { message: 'Slow' } }, { status: 429, headers }),
    });
    await expect(session.send(servers)).rejects.toMatchObject({
      service: 'compute',
      status: 429,
      message: 'Slow',
      requestId: 'req-1',
      retryAfterMs: 7000,
    });
  });
  test('that is answered with something else than JSON is answered by no OpenStack', async () => {
    const { session } = opened({ answer: () => new Response('<html>Sign in</html>') });
    await expect(session.send(servers)).rejects.toBeInstanceOf(Unreachable);
  });
});

describe('the address of a service', () => {
  const of = (endpoints: Endpoint[], more: Partial<CloudConfig> = {}) => opened({ endpoints, config: more });
  const nova = (more: Partial<Endpoint>): Endpoint => ({ type: 'compute', url: 'https://wrong.example', ...more });
  const right = 'https://right.example';
  test.each<[string, Endpoint[], Partial<CloudConfig>]>([
    [
      'is that of the interface',
      [nova({ interface: 'admin' }), nova({ interface: 'internal', url: right })],
      { interface: 'internal' },
    ],
    ['is that of the region', [nova({ region: 'two' }), nova({ region: 'one', url: right })], { region: 'one' }],
    ['is of any region if none is set', [nova({ region: null, url: right })], {}],
    ['is not of another service', [nova({ type: 'compute_legacy' }), nova({ url: `${right}//` })], {}],
  ])('%s', async (_, endpoints, more) => {
    const { session, asked } = of(endpoints, more);
    await session.send(servers);
    expect(asked()[0]?.request).toBe(`GET ${right}/servers`);
  });
  test.each(['block-storage', 'volumev3', 'volume'])('of Cinder may be called %s', async (type) => {
    const { session, asked } = of([{ type, url: right }]);
    await session.send(asking('volume'));
    expect(asked()[0]?.request).toBe(`GET ${right}/things`);
  });
  test('that the catalogue does not have is reported', async () => {
    const { session, asked } = of([nova({ region: 'two' })], { region: 'one' });
    await expect(session.send(servers)).rejects.toThrow(
      'expected a public endpoint of compute in region one in the catalogue, found none',
    );
    expect(asked()).toEqual([]);
  });
  test('that the policy does not allow is not asked, with or without a token', async () => {
    const refuse = (prefix: string) => (url: string) => {
      if (url.startsWith(prefix)) throw new Error(`not allowed: ${url}`);
    };
    const atNova = opened({ checked: refuse('https://nova.example') });
    await expect(atNova.session.send(servers)).rejects.toThrow('not allowed: https://nova.example/v2.1');
    expect(atNova.asked()).toEqual([]);
    const atKeystone = opened({ checked: refuse(keystone) });
    await expect(atKeystone.session.send(servers)).rejects.toThrow(`not allowed: ${keystone}`);
    expect(atKeystone.logins()).toEqual([]);
  });
});

describe('a list', () => {
  const Item = z.object({ id: z.string() });
  const pages: Record<string, object> = {
    'https://nova.example/v2.1/servers?tags=a': {
      servers: [{ id: '1' }, { id: '2' }],
      servers_links: [
        { rel: 'previous', href: 'http://10.0.0.1/servers?marker=0' },
        { rel: 'next', href: 'http://10.0.0.1/internal/servers?tags=a&marker=2' },
      ],
    },
    'https://nova.example/v2.1/servers?tags=a&marker=2': { servers: [{ id: '3' }] },
    'https://glance.example/v2/images': { images: [{ id: '4' }], next: '/v2/images?marker=4' },
    'https://neutron.example/v2.0/networks': { networks: [] },
    'https://glance.example/v2/images?marker=4': { images: [{ id: '5' }], first: '/v2/images' },
  };
  const answer: Answer = ({ request }) => Response.json(pages[request.slice(4)] ?? {});
  const listed = async (request: OpenStackRequest, key: string, by: Answer = answer) =>
    (await opened({ answer: by }).session.list(request, key, Item)).map(({ id }) => id);
  test('is read to its last page, by the query of its links at the address of the service', async () => {
    expect(await listed(asking('compute', '/servers?tags=a'), 'servers')).toEqual(['1', '2', '3']);
  });
  test('of Glance is read to its last page, by the path it says', async () => {
    expect(await listed(asking('image', '/v2/images'), 'images')).toEqual(['4', '5']);
  });
  test('of nothing is empty', async () => {
    expect(await listed(asking('network', '/v2.0/networks'), 'networks')).toEqual([]);
  });
  test.each(['', '{}', 'null', '[]', '"ok"', '{"error":{"code":500}}', '{"servers":null}'])(
    'is not taken for empty where the answer is %j',
    async (text) => {
      const garbage: Answer = () => new Response(text);
      await expect(listed(servers, 'servers', garbage)).rejects.toThrow('found one of another form');
    },
  );
  test('ends at invalid links', async () => {
    const garbage: Answer = () => Response.json({ servers: [{ id: '1' }], servers_links: {} });
    expect(await listed(servers, 'servers', garbage)).toEqual(['1']);
  });
  test('with endless pages is an error', async () => {
    let page = 0;
    const endless: Answer = () =>
      Response.json({ servers: [], servers_links: [{ rel: 'next', href: `http://x/?marker=${page++}` }] });
    await expect(listed(servers, 'servers', endless)).rejects.toThrow('found one of another form');
    expect(page).toBe(1000);
  });
  test('fails as a whole with a page that does', async () => {
    const fails: Answer = (asked) =>
      asked.request.includes('marker') ? new Response('', { status: 500 }) : answer(asked);
    await expect(listed(asking('compute', '/servers?tags=a'), 'servers', fails)).rejects.toMatchObject({ status: 500 });
  });
  test('of something else fails', async () => {
    const garbage: Answer = () => Response.json({ servers: [{ name: 'no id' }] });
    await expect(listed(servers, 'servers', garbage)).rejects.toThrow();
  });
  test('ends where a page leads back to itself', async () => {
    let asked = 0;
    const endless: Answer = () => {
      if (++asked > 20) throw new Error('asked too often');
      return Response.json({ servers: [{ id: '1' }], servers_links: [{ rel: 'next', href: '/servers?marker=1' }] });
    };
    await listed(servers, 'servers', endless).catch(() => undefined);
    expect(asked).toBeLessThan(5);
  });
});

describe('on the wire', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    vi.restoreAllMocks();
    for (const end of ends.splice(0)) await end();
  });

  /** A session at a server with these answers to all but logins, and the requested paths. */
  async function wired(answer: (path: string) => { status: number; headers?: Record<string, string> } | 'silence') {
    const paths: string[] = [];
    const server = createServer((request, response) => {
      const path = request.url ?? '';
      paths.push(path);
      const given = answer(path);
      if (given === 'silence') return;
      response.writeHead(given.status, given.headers).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const close = () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    };
    ends.push(close);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ports = { fetch, now: () => startMs, renewed: () => undefined, checked: () => undefined };
    const session = openSession({ ...config, authUrl: url }, { ...ports, watched: (_, run) => run() });
    return { session, paths, close };
  }

  test('a redirect is refused: the token stays here', async () => {
    const { session, paths } = await wired(() => ({ status: 307, headers: { location: '/elsewhere' } }));
    await expect(session.login()).rejects.toThrow(
      "expected an answer of OpenStack's identity service to logIn, found none",
    );
    expect(paths).toEqual(['/auth/tokens']);
  });
  test('a request without an answer in time fails and reports it', async () => {
    const { timeout } = AbortSignal;
    const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout.call(AbortSignal, 20));
    const { session } = await wired(() => 'silence');
    await expect(session.login()).rejects.toThrow(
      "expected an answer of OpenStack's identity service to logIn, found none (within 15 s)",
    );
    expect(spy).toHaveBeenCalledWith(openStackTimeoutMs);
  });
  test('an address without a server is reported', async () => {
    const { session, close } = await wired(() => 'silence');
    await close();
    await expect(session.login()).rejects.toThrow('(ECONNREFUSED)');
  });
  test('no error shows the password', async () => {
    const { session } = await wired(() => ({ status: 500 }));
    await expect(session.login()).rejects.not.toThrow('hunter2');
  });
});
