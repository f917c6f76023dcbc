import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { type Action, inStages, together } from '../actions.ts';
import { type Batch, defineFunction, type FunctionDeclaration, on } from '../function.ts';
import { defineResource, type KubernetesObject } from '../kinds/resource.ts';
import type { Refusal, Refusals } from '../kubernetes/refusal.ts';
import type { Cached } from './cache.ts';
import { ApiError, NoAnswer } from './errors.ts';
import { serve } from './http.ts';
import type { Kube } from './kube.ts';
import { longestUseMs } from './perform.ts';
import type { EventPublisher } from './publish.ts';

import { telemetryOf } from './telemetry/telemetry.ts';

const Widget = defineResource({ apiVersion: 'demo.example.com/v1', kind: 'Widget', plural: 'widgets' }, {});
const widget = Widget.parse({ metadata: { name: 'w', namespace: 'lab', uid: 'uid-w', resourceVersion: '7' } });
const ordered = 'widget.ordered.v1';

type Refuse = (request: string) => Error | undefined | Promise<undefined>;

/** An API server that answers every write with success, or throws what `refuse` hands out, and keeps the writes. */
function fakeKube(refuse: Refuse = () => undefined) {
  const writes: string[] = [];
  const write = async (what: string) => {
    writes.push(what);
    const error = await refuse(what);
    if (error) throw error;
    return widget as KubernetesObject;
  };
  const kube = {
    get: async (resource: { kind: string }, ref: { name: string }) => {
      const error = await refuse(`get ${resource.kind} ${ref.name}`);
      if (error) throw error;
    },
    list: async () => [],
    create: (resource: { kind: string }, object: { metadata: { name: string } }) =>
      write(`create ${resource.kind} ${object.metadata.name}`),
    replace: (resource: { kind: string }, { metadata }: { metadata: { name: string } }) =>
      write(`replace ${resource.kind} ${metadata.name}`),
    apply: (resource: { kind: string }, { metadata }: { metadata: { name: string } }) =>
      write(`apply ${resource.kind} ${metadata.name}`),
    patch: (resource: { kind: string }, ref: { name: string }) => write(`patch ${resource.kind} ${ref.name}`),
    delete: (resource: { kind: string }, ref: { name: string }) => write(`delete ${resource.kind} ${ref.name}`),
  } as unknown as Kube;
  return { kube, writes };
}

const conflict = new ApiError(409, 'Conflict', 'the object has been modified');
const status: Action = { do: 'patchStatus', resource: Widget, of: widget, status: { phase: 'Done' } };
const makes = (name: string): Action => ({ do: 'create', resource: Widget, object: { metadata: { name } } });

interface Options {
  observe?: FunctionDeclaration<unknown>['observe'];
  decide?: (observed: unknown) => readonly Action[];
  refuse?: Refuse;
  publish?: EventPublisher['publish'];
  cached?: Cached['cached'];
  now?: () => number;
}

const startMs = Date.parse('2026-01-01T00:00:00Z');

/** A function on a fake API server, the reconciles it made, and what it wrote. */
function served({ observe, decide = () => [], refuse, publish, cached, now = () => startMs }: Options = {}) {
  const { kube, writes } = fakeKube(refuse);
  const batches: Batch[] = [];
  const pauses: number[] = [];
  const told: string[] = [];
  let retold = 0;
  const declaration = defineFunction<unknown>({
    name: 'turn-widget',
    on: [
      on.changed(Widget, { source: 'pelotech' }),
      on.event(
        ordered,
        z.strictObject({ name: z.string(), size: z.number().optional(), parts: z.array(z.string()).optional() }),
      ),
      on.sweep(),
    ],
    may: [],
    scale: 'zero',
    observe: async (context, batch) => {
      batches.push(batch);
      return observe ? observe(context, batch) : [batch];
    },
    decide,
  });
  const { app, drain } = serve(declaration, {
    kube,
    cached,
    telemetry: telemetryOf('turn-widget'),
    now,
    pause: async (milliseconds) => {
      pauses.push(milliseconds);
      await new Promise((resolve) => setImmediate(resolve));
    },
    random: () => 1,
    publisher: { publish: publish ?? (({ id }) => void told.push(id)), republish: () => void retold++ },
  });
  const post = (headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer> = '{}', path = '/') =>
    app.request(path, { method: 'POST', headers, body });
  return { app, post, drain, writes, batches, pauses, told, retold: () => retold };
}

/** A function whose first reconcile observes nothing until it is released. */
async function heldUp() {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const { post, batches } = served({ observe: () => promise.then(() => []) });
  const first = post(changed);
  await vi.waitFor(() => expect(batches).toHaveLength(1));
  return { post, batches, first, release };
}

const event = (type: string, more: Record<string, string> = {}) => ({
  'ce-specversion': '1.0',
  'ce-id': '1',
  'ce-source': '/test',
  'ce-type': type,
  'content-type': 'application/json',
  ...more,
});
const changed = event('dev.knative.apiserver.ref.update', {
  'ce-apiversion': Widget.apiVersion,
  'ce-kind': Widget.kind,
  'ce-namespace': 'lab',
  'ce-name': 'w',
});
const ping = (name: string) =>
  event('dev.knative.sources.ping', { 'ce-source': `/apis/v1/namespaces/sync-operator/pingsources/images-${name}` });

/** Keeps what a function logs out of the test's output, and hands it back. */
function quietly() {
  const spy = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  return () => spy.mock.calls.map(([line]) => String(line)).join('\n');
}

/** The answer's status and body, as the Broker sees them. */
const answerOf = async (response: Response | Promise<Response>) => {
  const found = await response;
  return [found.status, await found.text()] as const;
};

describe('an event', () => {
  test.each([
    ['a change of its kind', changed, { subjects: [{ kind: 'Widget', namespace: 'lab', name: 'w' }] }],
    ['its timer', ping('sweep'), { sweep: true, audit: false }],
    ['a message whose data fits', event(ordered), { messages: [{ id: '1', data: { name: 'w' } }] }],
    [
      'a message with a charset',
      event(ordered, { 'content-type': 'application/json; charset=utf-8' }),
      { messages: [{ data: { name: 'w' } }] },
    ],
  ])('that is %s makes one reconcile and is answered 202 with an empty body', async (_, headers, batch) => {
    const { post, batches } = served();
    expect(await answerOf(post(headers, '{"name":"w"}'))).toEqual([202, '']);
    expect(batches).toMatchObject([batch]);
  });
  test('whose Content-Type the Broker lost, for a structured event named none, has JSON for data', async () => {
    const { post, batches } = served();
    const headers = { 'ce-specversion': '1.0', 'ce-id': '9', 'ce-source': '/ci', 'ce-type': ordered };
    // Bytes: of a text, Request would say that it is text/plain.
    expect(await answerOf(post(headers, new TextEncoder().encode('{"name":"w"}')))).toEqual([202, '']);
    expect(batches).toMatchObject([{ messages: [{ data: { name: 'w' } }] }]);
  });
  test('in structured mode is the same', async () => {
    const { post, batches } = served();
    const body = { specversion: '1.0', id: '9', source: '/ci', type: ordered, data: { name: 'w' } };
    expect(await answerOf(post({ 'content-type': 'application/cloudevents+json' }, JSON.stringify(body)))).toEqual([
      202,
      '',
    ]);
    expect(batches).toMatchObject([{ messages: [{ id: '9', source: '/ci', data: { name: 'w' } }] }]);
  });
  test.each([
    [
      'as its sender said',
      { 'ce-time': '2026-01-01T02:00:00+02:00', 'ce-knativearrivaltime': 'x' },
      '2026-01-01T02:00:00+02:00',
    ],
    ['else when the Broker got it', { 'ce-knativearrivaltime': '2026-01-01T00:00:01Z' }, '2026-01-01T00:00:01Z'],
    ['else unknown', {}, undefined],
  ])('happened when %s', async (_, sent, time) => {
    const { post, batches } = served();
    await post(event(ordered, sent as Record<string, string>), '{"name":"w"}');
    const structured = { specversion: '1.0', id: '9', source: '/ci', type: ordered, data: { name: 'w' } };
    const extensions = Object.entries(sent).map(([name, value]) => [name.slice(3), value]);
    await post(
      { 'content-type': 'application/cloudevents+json' },
      JSON.stringify({ ...structured, ...Object.fromEntries(extensions) }),
    );
    expect(batches.map(({ messages }) => messages[0]?.time)).toEqual([time, time]);
  });
  test.each([
    ['of an unknown type', event('who.knows.v1')],
    ['about a kind it does not watch', { ...changed, 'ce-kind': 'Gadget' }],
    ['about no object at all', { ...changed, 'ce-name': '' }],
    ['from a timer it did not ask for', ping('audit')],
    ['from a timer of another owner', ping('lunch')],
  ])('%s is answered 204 with an empty body and makes no reconcile', async (_, headers) => {
    const { post, batches } = served();
    expect(await answerOf(post(headers))).toEqual([204, '']);
    expect(batches).toEqual([]);
  });
  test('about an object that is gone makes a reconcile that writes nothing, and is done', async () => {
    const { post, writes } = served({ observe: async () => [] });
    expect(await answerOf(post({ ...changed, 'ce-type': 'dev.knative.apiserver.ref.delete' }))).toEqual([202, '']);
    expect(writes).toEqual([]);
  });
});

describe('a request that is no event', () => {
  const headers = event(ordered);
  const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
  test.each([
    ['no headers at all', {}, '{"name":"w"}', 'expected a CloudEvent 1.0 over HTTP'],
    ['no ce-id', without('ce-id'), '{"name":"w"}', 'expected a CloudEvent'],
    ['no ce-source', without('ce-source'), '{"name":"w"}', 'expected a CloudEvent'],
    ['no ce-type', without('ce-type'), '{"name":"w"}', 'expected a CloudEvent'],
    ['a time that is none', { ...headers, 'ce-time': 'yesterday' }, '{"name":"w"}', 'time: Invalid ISO datetime'],
    ['data that is no JSON', headers, '{"name":', 'data: expected JSON, found other text'],
    ['a field of another type', headers, '{"name":7}', 'data.name: '],
    ['a field too many', headers, '{"name":"w","secretRef":"s3"}', 'secretRef'],
    ['a field too few', headers, '{}', 'data.name: '],
    ['no data', headers, '', 'data: expected JSON, found none'],
    [
      "curl's own Content-Type",
      { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      '{"name":"w"}',
      'data: expected Content-Type application/json, found application/x-www-form-urlencoded',
    ],
    [
      'no data in structured mode',
      { 'content-type': 'application/cloudevents+json' },
      JSON.stringify({ specversion: '1.0', id: '1', source: '/test', type: ordered }),
      'data: expected JSON, found none',
    ],
    ['structured garbage', { 'content-type': 'application/cloudevents+json' }, 'x', 'expected a CloudEvent'],
    ['an empty structured event', { 'content-type': 'application/cloudevents+json' }, '{}', 'expected a CloudEvent'],
    [
      'attributes that are no strings',
      { 'content-type': 'application/cloudevents+json' },
      '{"specversion":"1.0","id":5,"type":["t"],"source":{}}',
      'type: Invalid input',
    ],
    [
      'a batch',
      { 'content-type': 'application/cloudevents-batch+json' },
      '[]',
      'expected one CloudEvent, found a batch',
    ],
  ])('because of %s is answered 400 with the faults, and makes no reconcile', async (_, sent, body, words) => {
    const { post, batches } = served();
    const [answer, text] = await answerOf(post(sent as Record<string, string>, body));
    expect(answer).toBe(400);
    expect(JSON.parse(text)).toEqual({ faults: expect.arrayContaining([expect.stringContaining(words)]) });
    expect(batches).toEqual([]);
  });
  test.each([
    ['binary', { ...headers, 'ce-id': 'e-7', 'ce-source': 'https://ci:hush@ci.example/42?token=hush' }, '["hush'],
    [
      'structured',
      { 'content-type': 'application/cloudevents+json' },
      JSON.stringify({
        specversion: '1.0',
        id: 'e-7',
        source: 'https://ci:hush@ci.example/42?token=hush',
        type: ordered,
        data: { name: ['hush'] },
      }),
    ],
  ])('in %s mode is logged with its id, source and type, and without a word of its data', async (_, sent, body) => {
    const logged = quietly();
    await served().post(sent as Record<string, string>, body);
    expect(JSON.parse(logged())).toEqual({
      level: 'warn',
      function: 'turn-widget',
      message: expect.stringMatching(/^refused an event: data/),
      id: 'e-7',
      type: ordered,
      source: 'https://ci.example/42',
    });
    expect(logged()).not.toContain('hush');
  });
  test('cannot steer the terminal of who reads the log by the names of its fields', async () => {
    const logged = quietly();
    await served().post(headers, JSON.stringify({ name: 'w', '\u009b31m\u2028\u202e': 1 }));
    expect(logged()).toContain('Unrecognized key');
    expect(logged()).toMatch(/^[ -~]+$/);
  });
  test('names every fault of the data', async () => {
    const [, text] = await answerOf(served().post(headers, '{"name":7,"size":"large"}'));
    expect(JSON.parse(text).faults).toHaveLength(2);
  });
  test.each([
    [
      'one long fault',
      Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`größe-${index}`.repeat(9), index])),
    ],
    ['two hundred faults', { name: 'w', parts: Array.from({ length: 200 }, (_, index) => index) }],
  ])(
    'never gets a longer answer than a dispatcher with a dead letter sink survives (768 bytes): %s',
    async (_, data) => {
      const [answer, text] = await answerOf(served().post(headers, JSON.stringify(data)));
      expect(answer).toBe(400);
      expect(Buffer.byteLength(text as string)).toBeLessThanOrEqual(768);
      expect(JSON.parse(text as string).faults.length).toBeGreaterThan(0);
    },
  );
  test('of any kind gets one of 202, 204, 400 and is never the cause of a 5xx or 404', async () => {
    const { post } = served();
    const header = fc.constantFrom(
      'ce-id',
      'ce-source',
      'ce-type',
      'ce-specversion',
      'ce-time',
      'ce-kind',
      'ce-apiversion',
      'ce-name',
      'ce-dataschema',
      'content-type',
    );
    const value = fc.oneof(
      fc.stringMatching(/^[!-~]([ -~]{0,30}[!-~])?$/),
      fc.constantFrom(
        '1.0',
        '0.3',
        ordered,
        'dev.knative.sources.ping',
        'application/json',
        Widget.apiVersion,
        '\u00e4',
      ),
      fc.constantFrom(
        'application/cloudevents+json',
        'application/cloudevents-batch+json',
        'dev.knative.apiserver.ref.add',
      ),
    );
    const body = fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom('null', '[null]', '0'),
      fc
        .record({
          specversion: fc.constant('1.0'),
          id: fc.jsonValue(),
          type: fc.jsonValue(),
          source: fc.jsonValue(),
          time: fc.jsonValue(),
        })
        .map((value) => JSON.stringify(value)),
    );
    await fc.assert(
      fc.asyncProperty(fc.dictionary(header, value), fc.boolean(), body, async (sent, isWhole, text) => {
        const { status } = await post(isWhole ? { ...headers, ...sent } : sent, text);
        expect([202, 204, 400]).toContain(status);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a body', () => {
  const body = (bytes: number) => JSON.stringify({ name: 'x'.repeat(bytes - '{"name":""}'.length) });
  test('of 1 MiB is taken, one byte more is answered 413 with an empty body', async () => {
    const { post, batches } = served();
    expect(await answerOf(post(event(ordered), body(1024 * 1024)))).toEqual([202, '']);
    expect(await answerOf(post(event(ordered), body(1024 * 1024 + 1)))).toEqual([413, '']);
    expect(batches).toHaveLength(1);
  });
  test('that never says how long it is is cut off at 1 MiB', async () => {
    const { app, batches } = served();
    let sent = 0;
    const stream = new ReadableStream({
      pull(controller) {
        sent += 64 * 1024;
        controller.enqueue(new Uint8Array(64 * 1024).fill(32));
      },
    });
    const request = new Request('http://function/', {
      method: 'POST',
      headers: event(ordered),
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect((await app.fetch(request)).status).toBe(413);
    expect(sent).toBeLessThan(2 * 1024 * 1024);
    expect(batches).toEqual([]);
  });
});

describe('a write', () => {
  test('that another writer came before is decided again, up to five times, then answered 409', async () => {
    const { post, batches, writes, pauses } = served({ decide: () => [status], refuse: () => conflict });
    expect(await answerOf(post(changed))).toEqual([409, '']);
    expect(batches).toHaveLength(5);
    expect(writes).toHaveLength(5);
    expect(pauses).toEqual([20, 40, 80, 160]);
  });
  test('that succeeds at the fifth try is done', async () => {
    let tries = 0;
    const refuse = () => (++tries < 5 ? conflict : undefined);
    expect(await answerOf(served({ decide: () => [status], refuse }).post(changed))).toEqual([202, '']);
    expect(tries).toBe(5);
  });
  test('that comes long after what it was decided by was read is decided again instead', async () => {
    let nowMs = startMs;
    let reads = 0;
    const { post, writes } = served({
      now: () => nowMs,
      observe: async () => {
        reads++;
        // The first time reading takes longer than what was read may be used.
        if (reads === 1) nowMs += longestUseMs + 1;
        return [reads];
      },
      decide: (read) => [makes(`by-read-${read}`)],
    });
    expect(await answerOf(post(changed))).toEqual([202, '']);
    expect(writes).toEqual(['create Widget by-read-2']);
  });
  test('to an object that is gone by now is decided again and never answered 404', async () => {
    const gone = new ApiError(404, 'NotFound', 'widgets "w" not found');
    const { post, batches } = served({
      observe: async () => (batches.length > 1 ? [] : ['there']),
      decide: () => [status],
      refuse: () => gone,
    });
    expect(await answerOf(post(changed))).toEqual([202, '']);
    expect(batches).toHaveLength(2);
  });
  test.each([
    ['the API server is away', new NoAnswer('connection refused')],
    ['the API server is not well', new ApiError(500, 'InternalError', 'etcd is away')],
    ['the API server is busy', new ApiError(429, 'TooManyRequests', 'later')],
  ])('while %s is answered 503 with an empty body at once, and the cause goes to the log', async (_, error) => {
    const logged = quietly();
    const { post, batches } = served({ decide: () => [status], refuse: () => error });
    expect(await answerOf(post(changed))).toEqual([503, '']);
    expect(batches).toHaveLength(1);
    expect(logged()).toContain(error.message);
  });
  test('that fails keeps what follows it in the same decision from happening, and nothing of another decision', async () => {
    quietly();
    const { post, writes } = served({
      observe: async () => ['a', 'b'],
      decide: (name) => [makes(`${name}-1`), makes(`${name}-2`)],
      refuse: (write) => (write.endsWith('a-1') ? new ApiError(500, '', 'no') : undefined),
    });
    expect((await post(changed)).status).toBe(503);
    expect(writes.sort()).toEqual(['create Widget a-1', 'create Widget b-1', 'create Widget b-2']);
  });
  test('that conflicts beside one that failed is answered by the failure', async () => {
    quietly();
    const { post } = served({
      observe: async () => ['a', 'b'],
      decide: (name) => (name === 'a' ? [status] : [makes('b')]),
      refuse: (write) => (write.startsWith('patch') ? conflict : new NoAnswer('connection refused')),
    });
    expect((await post(changed)).status).toBe(503);
  });
});

test.each([
  ['a list', new ApiError(404, 'NotFound', 'the server could not find the requested resource'), 503],
  ['a reading that no one foresaw', new Error('no such thing'), 503],
])('%s that fails is answered so that the event comes again', async (_, error, answer) => {
  quietly();
  const observe = async () => Promise.reject(error);
  expect(await answerOf(served({ observe }).post(changed))).toEqual([answer, '']);
});

test('a decision that throws is answered 503 and takes no other down with it', async () => {
  quietly();
  const { post, writes } = served({
    observe: async () => ['bad', 'good'],
    decide: (name) => {
      if (name === 'bad') throw new TypeError('cannot read properties of undefined');
      return [makes('good')];
    },
  });
  expect((await post(changed)).status).toBe(503);
  expect(writes).toEqual(['create Widget good']);
});

test('the first actions of the groups of a stage are performed at once, and the others in order after all of them', async () => {
  const { promise: answer, resolve } = Promise.withResolvers<undefined>();
  const { post, writes } = served({
    decide: () =>
      inStages([
        [
          [makes('a'), makes('a2')],
          [makes('b'), makes('b2')],
        ],
        [[makes('c')]],
      ]),
    refuse: (write) => (write.endsWith(' a') ? answer : undefined),
  });
  const done = post(changed);
  await vi.waitFor(() => expect(writes).toEqual(['create Widget a', 'create Widget b']));
  resolve(undefined);
  expect((await done).status).toBe(202);
  expect(writes.slice(2)).toEqual(['create Widget a2', 'create Widget b2', 'create Widget c']);
});

describe('an object that cannot be created now', () => {
  const away = new ApiError(500, 'InternalError', 'failed calling webhook');
  const run = (actions: Action[]) =>
    served({ decide: () => actions, refuse: (write) => (write === 'create Widget disk' ? away : undefined) });
  test('blocks nothing of other groups', async () => {
    quietly();
    const { post, writes } = run(together([[makes('disk')], [makes('more'), status]]));
    expect((await post(changed)).status).toBe(503);
    expect(writes).toEqual(['create Widget disk', 'create Widget more', 'patch Widget w']);
  });
  test('blocks the rest of its group, and what follows all groups', async () => {
    quietly();
    const { post, writes } = run([...together([[makes('disk'), makes('machine')], [makes('other')]]), status]);
    expect((await post(changed)).status).toBe(503);
    expect(writes).toEqual(['create Widget disk', 'create Widget other']);
  });
  test('ends its group only, among those whose first actions are performed at once', async () => {
    quietly();
    const [early, late] = [
      [
        [makes('disk'), makes('machine')],
        [makes('other'), makes('more')],
      ],
      [[makes('last')]],
    ];
    const { post, writes } = run(inStages([early, late]));
    expect((await post(changed)).status).toBe(503);
    expect(writes).toEqual(['create Widget disk', 'create Widget other', 'create Widget more', 'create Widget last']);
  });
  test('blocks everything that follows if it has no group', async () => {
    quietly();
    const { post, writes } = run([makes('disk'), ...together([[makes('machine')]]), status]);
    expect((await post(changed)).status).toBe(503);
    expect(writes).toEqual(['create Widget disk']);
  });
  test('is decided again if another writer was first in one group and a request failed in another', async () => {
    const { post, batches } = served({
      decide: () => together([[makes('disk')], [status]]),
      refuse: (write) => (write === 'create Widget disk' ? away : conflict),
    });
    expect((await post(changed)).status).toBe(409);
    expect(batches).toHaveLength(5);
  });
});

describe('an object the API server refuses for what it is', () => {
  const applies = (name: string): Action => ({
    do: 'apply',
    resource: Widget,
    object: { metadata: { name, namespace: 'lab' } },
  });
  test('blocks no other group, and what follows all groups', async () => {
    const names = ['w-bad', 'w-good', 'w-worse', 'w-better'];
    const refuse = (write: string) => (/-(bad|worse)$/.test(write) ? invalid : undefined);
    const { post, writes } = served({
      decide: () => [...together(names.map((name) => [applies(name)])), makes('after')],
      refuse,
    });
    expect(await answerOf(post(changed))).toEqual([202, '']);
    const row = names.map((name) => `apply Widget ${name}`);
    // Once more with what is known to be refused: this decision does not look.
    expect(writes).toEqual([...row, ...row]);
  });
  const invalid = new ApiError(422, 'Invalid', 'spec.size: expected more');
  test('is decided again with its words, once, and not sent again', async () => {
    const known: (Refusal | undefined)[] = [];
    const { post, writes } = served({
      observe: async ({ refusals }) => [refusals],
      decide: (refusals) => {
        const refusal = (refusals as Refusals).get('Widget w');
        known.push(refusal);
        return refusal ? [status] : [makes('w'), status];
      },
      refuse: (write) => (write.startsWith('create') ? invalid : undefined),
    });
    expect(await answerOf(post(changed))).toEqual([202, '']);
    expect(known).toEqual([undefined, { reason: 'Invalid', message: 'spec.size: expected more' }]);
    expect(writes).toEqual(['create Widget w', 'patch Widget w']);
  });
  test('is decided again where it was to be replaced for an owner; without one it is an error', async () => {
    quietly();
    const object = { ...widget, metadata: { ...widget.metadata, uid: 'u', resourceVersion: '1' } };
    const run = (owner: object) =>
      served({
        observe: async ({ refusals }) => [refusals],
        decide: (refusals) =>
          (refusals as Refusals).has('Widget lab/w')
            ? [status]
            : [{ do: 'replace', resource: Widget, object, ...owner }, status],
        refuse: (write) => (write.startsWith('replace') ? invalid : undefined),
      });
    const owned = run({ owner: 'u' });
    expect(await answerOf(owned.post(changed))).toEqual([202, '']);
    expect(owned.writes).toEqual(['replace Widget w', 'patch Widget w']);
    expect((await run({}).post(changed)).status).toBe(503);
  });
  test('and is still wanted by the decision is tried no third time', async () => {
    const { post, writes } = served({ decide: () => [makes('w')], refuse: () => invalid });
    expect(await answerOf(post(changed))).toEqual([202, '']);
    expect(writes).toHaveLength(2);
  });
  test('after five other refusals ends the reconcile', async () => {
    let count = 0;
    const { post, batches } = served({ decide: () => [makes(`w-${count++}`)], refuse: () => invalid });
    expect((await post(changed)).status).toBe(202);
    expect(batches).toHaveLength(5);
  });
});

describe('a reconcile', () => {
  test('that waits for something no event reports asks for the same event again, and complains of nothing', async () => {
    const logged = quietly();
    const decide = (): Action[] => [{ do: 'redeliver', because: 'the slot of lab/w is not given back yet' }];
    expect(await answerOf(served({ decide }).post(changed))).toEqual([503, '']);
    expect(logged()).toBe('');
  });
  test('that is to look again does so at once, and at what it names beside what its event was about', async () => {
    const other = { ...widget, metadata: { ...widget.metadata, name: 'other' } };
    const looks: Action[][] = [[status, { do: 'requeue', about: other }], [status]];
    const { post, batches, writes } = served({ decide: () => looks.shift() ?? [] });
    expect(await answerOf(post(changed))).toEqual([202, '']);
    expect(batches.map(({ subjects }) => subjects.map(({ name }) => name))).toEqual([['w'], ['w', 'other']]);
    expect(writes).toHaveLength(2);
  });
  test('that is to look again does so after a conflict, too', async () => {
    const looks: Action[][] = [[{ do: 'requeue', about: widget }, status], []];
    const { post, batches } = served({ decide: () => looks.shift() ?? [], refuse: () => conflict });
    expect(await answerOf(post(ping('sweep')))).toEqual([202, '']);
    expect(batches.map(({ subjects }) => subjects.length)).toEqual([0, 1]);
  });
  test('that finds something to look at again five times asks for the same event again', async () => {
    quietly();
    const { post, batches } = served({ decide: () => [{ do: 'requeue', about: widget }] });
    expect(await answerOf(post(changed))).toEqual([503, '']);
    expect(batches).toHaveLength(5);
  });
  test('is shared by all events that come while another runs', async () => {
    const { post, batches, first, release } = await heldUp();
    const others = ['a', 'b', 'a'].map((name) => post({ ...changed, 'ce-name': name }));
    const sweep = post(ping('sweep'));
    release();
    const statuses = (await Promise.all([first, ...others, sweep])).map((response) => response.status);
    expect(statuses).toEqual([202, 202, 202, 202, 202]);
    expect(batches).toMatchObject([
      { subjects: [{ name: 'w' }], sweep: false },
      { subjects: [{ name: 'a' }, { name: 'b' }], sweep: true },
    ]);
  });
  test('name an object once, with what happened to it only if all of them say the same', async () => {
    const { post, batches, first, release } = await heldUp();
    const of = (name: string, verb: string) =>
      post({ ...changed, 'ce-name': name, 'ce-type': `dev.knative.apiserver.ref.${verb}` });
    const others = [of('a', 'update'), of('b', 'update'), of('a', 'add'), of('b', 'update')];
    release();
    await Promise.all([first, ...others]);
    const verbs = batches[1]?.subjects.map(({ name, verb }) => [name, verb]);
    expect(verbs).toEqual([
      ['a', undefined],
      ['b', 'update'],
    ]);
  });
  describe('in which one object fails', () => {
    const of = (name: string) => ({ ...changed, 'ce-name': name });
    const fails = new ApiError(500, 'InternalError', 'failed calling webhook');
    /** The answers to events that share a reconcile. The reconcile begins once another has ended. */
    async function answersTo(posts: readonly Record<string, string>[], { observe, refuse }: Options = {}) {
      quietly();
      const gate = Promise.withResolvers<void>();
      const { post, batches, writes } = served({
        observe: async (context, batch) => {
          if (batches.length === 1) await gate.promise;
          if (batches.length === 1) return [];
          return observe ? observe(context, batch) : batch.subjects.map(({ name }) => an(name));
        },
        decide: (observed) => [makes((observed as ReturnType<typeof an>).image.metadata.name)],
        refuse: refuse ?? ((request) => (request === 'create Widget b' ? fails : undefined)),
      });
      const first = post(of('first'));
      await vi.waitFor(() => expect(batches).toHaveLength(1));
      const others = posts.map((headers) => post(headers, '{"name":"b"}'));
      await new Promise((resolve) => setImmediate(resolve));
      gate.resolve();
      await first;
      return { answers: (await Promise.all(others)).map(({ status }) => status), batches, writes };
    }
    const an = (name: string) => ({
      image: Widget.parse({ metadata: { name, namespace: 'lab', uid: `uid-${name}` } }),
    });

    test('redelivers only the event of that object', async () => {
      const { answers, batches, writes } = await answersTo([of('a'), of('b'), of('c')]);
      expect(answers).toEqual([202, 503, 202]);
      expect(batches).toHaveLength(2);
      expect(writes).toEqual(['create Widget a', 'create Widget b', 'create Widget c']);
    });
    test('redelivers only that event if another writer changed the object in each of five tries', async () => {
      const refuse = (write: string) => (write.endsWith(' b') ? conflict : undefined);
      const { answers, batches } = await answersTo([of('a'), of('b')], { refuse });
      expect(answers).toEqual([202, 409]);
      expect(batches).toHaveLength(1 + 5);
    });
    test('redelivers a timer event that led to it, and a message that names it', async () => {
      const observe = async () => [an('a'), an('b')];
      const message = event(ordered, { 'ce-id': '2' });
      expect((await answersTo([ping('sweep'), message, of('a')], { observe })).answers).toEqual([503, 503, 202]);
    });
    test('skips the object if the API server does not return it, and reconciles the others', async () => {
      const observe: Options['observe'] = async ({ kube }, { subjects }) => {
        await Promise.all(subjects.map((subject) => kube.get(Widget, subject)));
        return subjects.map(({ name }) => an(name));
      };
      const refuse = (write: string) => (write === 'get Widget b' ? fails : undefined);
      const { answers, writes } = await answersTo([of('a'), of('b'), of('c')], { observe, refuse });
      expect(answers).toEqual([202, 503, 202]);
      expect(writes.filter((write) => write.startsWith('create'))).toEqual(['create Widget a', 'create Widget c']);
    });
  });
  test('makes and performs at most 32 decisions at once', async () => {
    let open = 0;
    let most = 0;
    const { post, writes } = served({
      observe: async () => Array.from({ length: 1000 }, (_, index) => index),
      decide: (index) => {
        most = Math.max(most, ++open);
        return [makes(`w${index}`)];
      },
      refuse: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        open--;
        return undefined;
      },
    });
    expect((await post(changed)).status).toBe(202);
    expect(writes).toHaveLength(1000);
    expect(most).toBe(32);
  });
  test('makes no more than 100 decisions that write nothing before other events have a turn', async () => {
    let [isOver, inARow, most] = [false, 0, 0];
    const turn = () => {
      inARow = 0;
      if (!isOver) setImmediate(turn);
    };
    turn();
    const { post } = served({
      observe: async () => Array.from({ length: 1000 }, (_, index) => index),
      decide: () => {
        most = Math.max(most, ++inARow);
        return [];
      },
    });
    expect((await post(changed)).status).toBe(202);
    isOver = true;
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(100);
  });
  test('that fails fails its own events only', async () => {
    quietly();
    const gate = Promise.withResolvers<void>();
    const { post, batches } = served({
      observe: async () => {
        const isFirst = batches.length === 1;
        await gate.promise;
        if (isFirst) throw new Error('the first one');
        return [];
      },
    });
    const first = post(changed);
    await vi.waitFor(() => expect(batches).toHaveLength(1));
    const second = post(changed);
    gate.resolve();
    expect([(await first).status, (await second).status]).toEqual([503, 202]);
  });
  test('notifies after the answer, once, and only for what was written', async () => {
    const told: Action = { do: 'publish', type: 't', id: 'fact', subject: 's', data: {} };
    const recorded: Action = {
      do: 'recordEvent',
      about: { ...widget, apiVersion: Widget.apiVersion, kind: Widget.kind },
      type: 'Normal',
      reason: 'Pruned',
      message: 'It turns.',
      once: '1',
    };
    const happy = served({ decide: () => [status, told, recorded] });
    await happy.post(changed);
    await happy.drain();
    expect(happy.told).toEqual(['fact']);
    expect(happy.writes[0]).toBe('patch Widget w');
    expect(happy.writes[1]).toMatch(/^create Event w\.[0-9a-f]{16}$/);
    const sad = served({ decide: () => [status, told], refuse: () => conflict });
    await sad.post(changed);
    await sad.drain();
    expect(sad.told).toEqual([]);
  });
  test('delays the end of the process until its events are published', async () => {
    const taken = Promise.withResolvers<void>();
    const told: Action = { do: 'publish', type: 't', id: 'fact', subject: 's', data: {} };
    const { post, drain } = served({ decide: () => [status, told], publish: () => taken.promise });
    expect((await post(changed)).status).toBe(202);
    let hasEnded = false;
    const ended = drain().then(() => {
      hasEnded = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasEnded).toBe(false);
    taken.resolve();
    await ended;
  });
  test('publishes again at the end of the process what was not acknowledged', async () => {
    const { drain, retold } = served();
    await drain();
    expect(retold()).toBe(1);
  });
  test('whose Event cannot be recorded is done all the same', async () => {
    const recorded: Action = {
      do: 'recordEvent',
      about: { ...widget, apiVersion: Widget.apiVersion, kind: Widget.kind },
      type: 'Warning',
      reason: 'SlotHeld',
      message: 'It does not turn.',
      once: '1',
    };
    const forbidden = new ApiError(403, 'Forbidden', 'the namespace is being terminated');
    const { post, drain } = served({ decide: () => [recorded], refuse: () => forbidden });
    expect((await post(changed)).status).toBe(202);
    await drain();
  });
  test('publishes its facts although an Event cannot be sent', async () => {
    quietly();
    const recorded = (once: string): Action => ({
      do: 'recordEvent',
      about: { ...widget, apiVersion: Widget.apiVersion, kind: Widget.kind },
      type: 'Normal',
      reason: 'Pruned',
      message: 'It turns.',
      once,
    });
    const told: Action = { do: 'publish', type: 't', id: 'fact', subject: 's', data: {} };
    const refuse: Refuse = (request) =>
      request.startsWith('create Event') ? new NoAnswer('connection refused') : undefined;
    const one = served({ decide: () => [recorded('1'), told, recorded('2')], refuse });
    expect((await one.post(changed)).status).toBe(202);
    await one.drain();
    expect(one.told).toEqual(['fact']);
    expect(one.writes.filter((write) => write.startsWith('create Event'))).toHaveLength(2);
  });
  test('reads its cache once: after a conflict everything is read live', async () => {
    const had: boolean[] = [];
    const { post } = served({
      cached: async () => [],
      observe: async ({ cached }) => {
        had.push(cached !== undefined);
        return [undefined];
      },
      decide: () => [status],
      refuse: () => (had.length < 3 ? conflict : undefined),
    });
    expect((await post(changed)).status).toBe(202);
    expect(had).toEqual([true, false, false]);
  });
  test('reads its cache again where it only looks at what it has written', async () => {
    const had: boolean[] = [];
    const { post } = served({
      cached: async () => [],
      observe: async ({ cached }) => {
        had.push(cached !== undefined);
        return [undefined];
      },
      decide: () => (had.length < 3 ? [{ do: 'requeue', about: widget }] : []),
    });
    expect((await post(changed)).status).toBe(202);
    expect(had).toEqual([true, true, true]);
  });
  test('of a sweep tells again what was told', async () => {
    const { post, retold } = served();
    await post(changed);
    expect(retold()).toBe(0);
    await post(ping('sweep'));
    expect(retold()).toBe(1);
  });
});

test('its health is asked for by GET', async () => {
  const { app } = served();
  expect((await app.request('/health/ready')).status).toBe(200);
});
