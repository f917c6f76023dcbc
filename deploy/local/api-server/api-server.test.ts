import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type SteppedClock, steppedClock } from '../clock.ts';
import { type ApiServer, startApiServer } from './api-server.ts';
import type { Fault } from './fault.ts';
import { StatusError } from './status-error.ts';
import { aWidget, clientOf, watchLines, widgetDefinition, widgets } from './test-client.ts';

let server: ApiServer;
let clock: SteppedClock;
let faults: ((path: string, method: string) => Fault | undefined) | undefined;
let send: ReturnType<typeof clientOf>;

beforeEach(async () => {
  clock = steppedClock();
  faults = undefined;
  server = await startApiServer({ clock, intercept: ({ path, method }) => faults?.(path, method) });
  send = clientOf(server);
  await send('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgetDefinition());
});
afterEach(() => server.close());

test('half of a surrogate pair is kept as U+FFFD, as Go reads it', async () => {
  const widget = aWidget('w');
  const metadata = { ...widget.metadata, annotations: { a: 'x\ud83d' } };
  const { body } = await send(`POST ${widgets}`, { ...widget, metadata });
  expect(body.metadata.annotations).toEqual({ a: 'x\ufffd' });
});

test.each(['/version', '/api', '/apis', '/api/v1', '/apis/apps', '/apis/apps/v1', '/apis/example.com/v1'])(
  '%s with a slash at its end is the same document: so other clients ask for it',
  async (path) => {
    const { status, body } = await send(`GET ${path}/`);
    expect(status).toBe(200);
    expect(body).toEqual((await send(`GET ${path}`)).body);
  },
);

test('a SelfSubjectReview says who asks', async () => {
  const head = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const { status, body } = await send(`POST ${path}`, head, {
    'impersonate-user': 'system:serviceaccount:lab:robot',
    'impersonate-group': 'system:authenticated',
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    ...head,
    status: { userInfo: { username: 'system:serviceaccount:lab:robot', groups: ['system:authenticated'] } },
  });
});

test('protobuf alone is refused with a word, and JSON is what a client gets that takes either', async () => {
  const protobuf = 'application/vnd.kubernetes.protobuf';
  expect(await send('GET /api/v1/namespaces', undefined, { accept: protobuf })).toMatchObject({
    status: 406,
    body: {
      kind: 'Status',
      reason: 'NotAcceptable',
      message: 'only the following media types are accepted: application/json',
    },
  });
  const either = await send('GET /api/v1/namespaces', undefined, { accept: `${protobuf},application/json` });
  expect(either).toMatchObject({ status: 200, body: { kind: 'NamespaceList' } });
});

test('the scale of a custom resource is where its definition says', async () => {
  const paths = {
    specReplicasPath: '.spec.size',
    statusReplicasPath: '.status.size',
    labelSelectorPath: '.status.pods',
  };
  const definition = widgetDefinition({ subresources: { status: {}, scale: paths } });
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com';
  await send(`PATCH ${path}`, { spec: definition.spec });
  await send(`POST ${widgets}`, aWidget('w'));
  await send(`PATCH ${widgets}/w/status`, { status: { size: 1, pods: 'a=b' } });
  expect((await send(`PATCH ${widgets}/w/scale`, { spec: { replicas: 5 } })).body).toMatchObject({
    kind: 'Scale',
    spec: { replicas: 5 },
    status: { replicas: 1, selector: 'a=b' },
  });
  expect((await send(`GET ${widgets}/w`)).body.spec).toMatchObject({ size: 5 });
});

describe('time', () => {
  test('is the clock’s, in whole seconds', async () => {
    clock.step(1999);
    const { body } = await send(`POST ${widgets}`, aWidget('w'));
    expect(body.metadata.creationTimestamp).toBe('2026-01-01T00:00:01Z');
  });

  test('ages in tables are counted by it', async () => {
    await send(`POST ${widgets}`, aWidget('w'));
    clock.step(200_000);
    const accept = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
    const { body } = await send('GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions', undefined, accept);
    expect(body).toMatchObject({ kind: 'Table' });
    const namespaces = await send('GET /api/v1/namespaces', undefined, accept);
    expect(namespaces.body).toMatchObject({ rows: [{ cells: ['default', 'Active', '3m20s'] }, {}] });
  });
});

describe('a watch', () => {
  test('receives each change immediately', async () => {
    const stop = new AbortController();
    const lines = watchLines(`${server.url}${widgets}?watch=true`, stop.signal);
    const first = lines.next();
    await send(`POST ${widgets}`, aWidget('w'));
    expect((await first).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'w' } } });
    await send(`PATCH ${widgets}/w`, { spec: { size: 2 } });
    expect((await lines.next()).value).toMatchObject({ type: 'MODIFIED', object: { spec: { size: 2 } } });
    stop.abort();
  });

  test('asked for initial events marks their end, and receives bookmarks over time', async () => {
    await send(`POST ${widgets}`, aWidget('w'));
    const stop = new AbortController();
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const lines = watchLines(`${server.url}${widgets}?${query}`, stop.signal);
    expect((await lines.next()).value).toMatchObject({ type: 'ADDED' });
    expect((await lines.next()).value).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'Widget', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
    const { body } = await send('POST /api/v1/namespaces', { metadata: { name: 'other' } });
    clock.step(60_000);
    expect((await lines.next()).value).toMatchObject({
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: body.metadata.resourceVersion } },
    });
    stop.abort();
  });

  test('ends when watches are dropped', async () => {
    await send(`POST ${widgets}`, aWidget('w'));
    const lines = watchLines(`${server.url}${widgets}?watch=true`, new AbortController().signal);
    await lines.next();
    server.dropWatches();
    expect((await lines.next()).done).toBe(true);
  });
});

describe('admission', () => {
  test('a hook may change what is stored', async () => {
    server.addAdmission(({ object, resource }) => {
      if (object && resource.resource === 'widgets') object.metadata.annotations = { seen: 'yes' };
    });
    const { body } = await send(`POST ${widgets}`, aWidget('w'));
    expect(body.metadata.annotations).toEqual({ seen: 'yes' });
  });

  test('a hook’s refusal reaches the client with its status and words', async () => {
    server.addAdmission(({ operation }) => {
      if (operation === 'DELETE') throw new StatusError(403, 'Forbidden', 'not this one');
      if (operation === 'UPDATE') throw Object.assign(new Error('no updates'), { status: 422 });
    });
    await send(`POST ${widgets}`, aWidget('w'));
    expect((await send(`DELETE ${widgets}/w`)).body).toMatchObject({ code: 403, message: 'not this one' });
    expect((await send(`PATCH ${widgets}/w`, { spec: { size: 2 } })).body).toMatchObject({
      code: 422,
      message: 'no updates',
    });
    expect((await send(`GET ${widgets}/w`)).body.spec).toMatchObject({ size: 1 });
  });

  test('a rival’s write during a slow hook is not lost', async () => {
    await send(`POST ${widgets}`, aWidget('w'));
    let isFirst = true;
    server.addAdmission(async ({ operation }) => {
      if (operation !== 'UPDATE' || !isFirst) return;
      isFirst = false;
      await send(`PATCH ${widgets}/w`, { metadata: { labels: { rival: 'was-here' } } });
    });
    const { body } = await send(`PATCH ${widgets}/w`, { spec: { size: 5 } });
    expect(body).toMatchObject({ metadata: { labels: { rival: 'was-here' } }, spec: { size: 5 } });
  });
});

describe('faults', () => {
  test('a request can be refused with any status before it does anything', async () => {
    faults = (path) => (path === widgets ? { status: 429 } : undefined);
    const refused = await send(`POST ${widgets}`, aWidget('w'));
    expect(refused.body).toMatchObject({ code: 429, reason: 'TooManyRequests' });
    expect(refused.headers.get('retry-after')).toBe('1');
    faults = undefined;
    expect((await send(`GET ${widgets}/w`)).status).toBe(404);
  });

  test('an answer can be lost after the deed', async () => {
    faults = (_, method) => (method === 'POST' ? { loseAnswer: true } : undefined);
    await expect(send(`POST ${widgets}`, aWidget('w'))).rejects.toThrow();
    expect((await send(`GET ${widgets}/w`)).status).toBe(200);
  });

  test('an answer can be late by the clock', async () => {
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    faults = () => {
      setImmediate(asked);
      return { delayMs: 5000 };
    };
    const answer = send(`GET ${widgets}/w`);
    await isAsked;
    clock.step(5000);
    expect((await answer).status).toBe(404);
  });
});

describe('requests', () => {
  test('are counted by user, verb, resource and class of status', async () => {
    const token = server.tokenFor({ namespace: 'default', name: 'me' });
    await send(`GET ${widgets}/w`);
    await send(`PATCH ${widgets}/w/status`, {});
    await clientOf(server, token)(`GET ${widgets}`);
    const counts = server.requests();
    expect(counts.get('kubernetes-admin get widgets.example.com 4xx')).toBe(1);
    expect(counts.get('kubernetes-admin patch widgets.example.com/status 4xx')).toBe(1);
    expect(counts.get('system:serviceaccount:default:me list widgets.example.com 4xx')).toBe(1);
  });

  test('under a name that is not this machine’s are refused, against DNS rebinding', async () => {
    const status = await new Promise((resolve, reject) => {
      const options = {
        port: server.port,
        host: '127.0.0.1',
        path: '/api/v1/secrets',
        headers: { host: 'evil.example' },
      };
      request(options, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });

  test('from a page of another site are refused', async () => {
    expect((await send(`GET ${widgets}`, undefined, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await send(`GET ${widgets}`, undefined, { origin: 'http://localhost:8080' })).status).toBe(200);
  });

  test('larger than the server takes are refused', async () => {
    const { status } = await send(`POST ${widgets}`, aWidget('w', { more: 'x'.repeat(3 * 1024 * 1024) }));
    expect(status).toBe(413);
  });
});

test('a port in use is one clear line', async () => {
  await expect(startApiServer({ clock, port: server.port })).rejects.toThrow(
    `port ${server.port} of 127.0.0.1 is in use: stop what listens there, or choose another with --port`,
  );
});

test('closing ends watches and connections at once', async () => {
  const lines = watchLines(`${server.url}${widgets}?watch=true`, new AbortController().signal);
  const next = lines.next();
  await send(`GET ${widgets}`);
  await server.close();
  await expect(
    next.then(
      ({ done }) => done,
      () => true,
    ),
  ).resolves.toBe(true);
});

describe('a pod', () => {
  const pods = '/api/v1/namespaces/default/pods';
  const aPod = (spec: object = {}) => ({
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  });

  test('on a node is Terminating for its grace period, until its kubelet ends it', async () => {
    await send(`POST ${pods}`, aPod({ nodeName: 'node' }));
    const { body } = await send(`DELETE ${pods}/p`);
    expect(body.metadata).toMatchObject({ deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 });
    await send(`DELETE ${pods}/p`, { gracePeriodSeconds: 0 });
    expect((await send(`GET ${pods}/p`)).status).toBe(404);
  });

  test('without a node is gone at once', async () => {
    await send(`POST ${pods}`, aPod());
    await send(`DELETE ${pods}/p`);
    expect((await send(`GET ${pods}/p`)).status).toBe(404);
  });
});

describe('a CustomResourceDefinition', () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

  test('takes its objects along when it is deleted, once nothing holds them', async () => {
    await send(`POST ${widgets}`, { ...aWidget('w'), metadata: { name: 'w', finalizers: ['x/held'] } });
    const stop = new AbortController();
    const lines = watchLines(`${server.url}${definitions}?watch=true`, stop.signal);
    await lines.next();
    await send(`DELETE ${definitions}/widgets.example.com`);
    expect((await lines.next()).value).toMatchObject({ type: 'MODIFIED' });
    expect((await send(`POST ${widgets}`, aWidget('late'))).status).toBe(405);
    await send(`PATCH ${widgets}/w`, { metadata: { finalizers: null } });
    expect((await lines.next()).value).toMatchObject({ type: 'DELETED' });
    expect((await send(`GET ${widgets}`)).status).toBe(404);
    stop.abort();
  });

  test('with a schema, rule or name that cannot work is refused', async () => {
    const misnamed = { ...widgetDefinition(), metadata: { name: 'gadgets.example.com' } };
    expect((await send(`POST ${definitions}`, misnamed)).body.message).toMatch(
      /must be spec.names.plural\+"."\+spec.group/,
    );
  });

  test('whose group comes first by name is the one kubectl means, of two with the same plural', async () => {
    for (const group of ['zeta.example.org', 'alpha.example.org']) {
      const { spec } = widgetDefinition();
      const metadata = { name: `widgets.${group}` };
      await send(`POST ${definitions}`, { ...widgetDefinition(), metadata, spec: { ...spec, group } });
    }
    const { body } = await send('GET /apis');
    const names = (body as unknown as { groups: { name: string }[] }).groups.map(({ name }) => name);
    expect(names.slice(-3)).toEqual(['alpha.example.org', 'example.com', 'zeta.example.org']);
  });

  test('serves several versions of the same objects', async () => {
    const definition = widgetDefinition();
    const [v1] = definition.spec.versions;
    const versions = [v1, { ...v1, name: 'v2', storage: false }];
    const merge = await send(`PATCH ${definitions}/widgets.example.com`, { spec: { versions } });
    expect(merge.status).toBe(200);
    await send(`POST ${widgets}`, aWidget('w'));
    const { body } = await send(`GET ${widgets.replace('/v1/', '/v2/')}/w`);
    expect(body).toMatchObject({ apiVersion: 'example.com/v2', metadata: { name: 'w' } });
  });
});
