import { HTTP } from 'cloudevents';
import { describe, expect, test } from 'vitest';
import { comparable, comparableRequest, recorded } from '../../../test/support/tools/recorded-knative-events.ts';
import { realClock } from '../clock.ts';
import { type Handler, resolver } from './address.ts';
import { brokerIngress } from './broker.ts';
import type { DeliveryResult } from './deliver.ts';
import { type Faults, perturb } from './faults.ts';
import { Broker, Trigger } from './resources.ts';
import { workInProgress } from './work.ts';

const url = 'http://127.0.0.1:1';

interface Setup {
  functions?: Record<string, (request: Request, call: number) => Response | Promise<Response>>;
  triggers?: Record<string, object>;
  broker?: { annotations?: Record<string, string>; delivery?: object };
  faults?: Faults;
}

/** A Broker default/default whose clock jumps over every wait; each function answers a Trigger of its name. */
function aBroker({ functions = {}, triggers, broker = {}, faults = {} }: Setup) {
  const calls: { name: string; request: Request }[] = [];
  const counts: string[] = [];
  const work = workInProgress();
  const brokerObject = Broker.parse({
    metadata: { name: 'default', namespace: 'default', annotations: broker.annotations },
    spec: { delivery: broker.delivery ?? { retry: 3, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S' } },
  });
  const specs = triggers ?? Object.fromEntries(Object.keys(functions).map((name) => [name, {}]));
  const triggerObjects = Object.entries(specs).map(([name, spec]) =>
    Trigger.parse({
      metadata: { name, namespace: 'default' },
      spec: { broker: 'default', subscriber: { ref: { kind: 'Service', name } }, ...spec },
    }),
  );
  const ingress: Handler = async (request) => app.fetch(request);
  const app = brokerIngress({
    clock: { now: realClock.now, after: (delayMs, task) => realClock.after(delayMs / 1000, task) },
    signal: new AbortController().signal,
    resolve: resolver({
      url,
      ingress,
      functions: (name) => async (request) => {
        calls.push({ name, request: request.clone() });
        const answer = functions[name]?.(request, calls.filter((call) => call.name === name).length);
        if (!answer) throw new Error('connection refused');
        return answer;
      },
    }),
    broker: (namespace, name) => (namespace === 'default' && name === 'default' ? brokerObject : undefined),
    triggers: () => triggerObjects,
    isReady: () => true,
    isOut: () => faults.outage === true,
    perturb: perturb(faults),
    count: (trigger, result: DeliveryResult) => counts.push(`${trigger} ${result}`),
    running: work.add,
  });
  const post = (init: RequestInit = {}, path = '/default/default') =>
    ingress(new Request(url + path, { method: 'POST', headers: event, ...init }));
  const callsOf = (name: string) => calls.filter((call) => call.name === name).map(({ request }) => request);
  return { post, calls, callsOf, counts, idle: work.idle };
}

const event = {
  'ce-specversion': '1.0',
  'ce-id': 'one',
  'ce-source': '/test',
  'ce-type': 'made.v1',
  'content-type': 'application/json',
};
const without = (name: keyof typeof event) => ({ ...event, [name]: '' });
const ok = () => new Response(null, { status: 204 });
const answering = (status: number, body?: string) => () => new Response(body ?? null, { status });
const async = { 'messaging.knative.dev/async-handler': 'true' };

describe('the requests of a Broker equal the recorded ones', () => {
  test.each([
    'reference-add-namespaced',
    'reference-update-namespaced',
    'reference-delete-namespaced',
    'resource-add-cluster',
  ])('%s', async (name) => {
    const sent = await recorded(`${name}-source-to-sink`);
    const wanted = await recorded(`${name}-via-broker`);
    const { post, callsOf } = aBroker({ functions: { observer: ok } });
    const headers = Object.fromEntries(Object.entries(sent.headers).filter(([header]) => header !== 'content-length'));
    expect((await post({ headers, body: sent.rawBody })).status).toBe(202);
    expect(callsOf('observer').map(comparableRequest)).toEqual([comparable(wanted.headers)]);
    const body = await callsOf('observer')[0]?.text();
    expect(body).toBe(sent.rawBody);
    expect(HTTP.toEvent({ headers: wanted.headers, body }).toString()).toContain(wanted.headers['ce-id']);
  });
});

describe('the ingress answers', () => {
  const structured = { 'content-type': 'application/cloudevents+json' };
  const inJson = (more: object) =>
    JSON.stringify({ specversion: '1.0', id: 'one', source: '/test', type: 'made.v1', ...more });
  test.each([
    { what: 'an event without a body', init: {}, status: 202 },
    { what: 'an event with a body', init: { body: '{"a":1}' }, status: 202 },
    { what: 'a body that is not the declared JSON', init: { body: 'no json' }, status: 202 },
    { what: 'version 0.3', init: { headers: { ...event, 'ce-specversion': '0.3' } }, status: 202 },
    { what: 'a structured event', init: { headers: structured, body: inJson({ data: { a: 1 } }) }, status: 202 },
    { what: 'an empty extension', init: { headers: { ...event, 'ce-namespace': '' } }, status: 202 },
    { what: 'another time to live', init: { headers: { ...event, 'ce-knativebrokerttl': '2' } }, status: 202 },
    { what: 'no type', init: { headers: without('ce-type') }, status: 400 },
    { what: 'no id', init: { headers: without('ce-id') }, status: 400 },
    { what: 'no source', init: { headers: without('ce-source') }, status: 400 },
    { what: 'version 2.0', init: { headers: { ...event, 'ce-specversion': '2.0' } }, status: 400 },
    { what: 'no event at all', init: { headers: {}, body: '{}' }, status: 400 },
    { what: 'broken structured JSON', init: { headers: structured, body: '{' }, status: 400 },
    {
      what: 'a structured event without id',
      init: { headers: structured, body: '{"specversion":"1.0"}' },
      status: 400,
    },
    { what: 'an upper-case extension', init: { headers: structured, body: inJson({ Upper: 'x' }) }, status: 202 },
    { what: 'an extension with _', init: { headers: { ...event, 'ce-my_name': 'x' } }, status: 400 },
    {
      what: 'a batch',
      init: { headers: { 'content-type': 'application/cloudevents-batch+json' }, body: `[${inJson({})}]` },
      status: 400,
    },
    { what: 'the last time to live', init: { headers: { ...event, 'ce-knativebrokerttl': '1' } }, status: 400 },
    { what: 'no such Broker', init: {}, path: '/default/other', status: 404 },
    { what: 'the path /', init: {}, path: '/', status: 404 },
    { what: 'a query string', init: {}, path: '/default/default?x=1', status: 404 },
    { what: 'one segment', init: {}, path: '/default', status: 400 },
    { what: 'three segments', init: {}, path: '/default/default/more', status: 400 },
    { what: 'GET', init: { method: 'GET' }, status: 405 },
    { what: 'PUT', init: { method: 'PUT' }, status: 405 },
    { what: 'OPTIONS', init: { method: 'OPTIONS' }, status: 200 },
  ])('$status to $what', async ({ init, path, status }) => {
    const response = await aBroker({}).post(init, path);
    expect(response.status).toBe(status);
    if (status === 200) expect(response.headers.get('webhook-allowed-origin')).toBe('*');
    expect(await response.text()).toBe('');
  });

  test('503 while the Broker is out', async () => {
    expect((await aBroker({ faults: { outage: true } }).post()).status).toBe(503);
  });

  test('202 at once with the async-handler annotation, whatever comes of it', async () => {
    const gate = Promise.withResolvers<Response>();
    const broker = aBroker({ functions: { slow: () => gate.promise }, broker: { annotations: async } });
    expect((await broker.post()).status).toBe(202);
    gate.resolve(new Response(null, { status: 400 }));
    await broker.idle();
    expect(broker.counts).toEqual(['default/slow failed']);
  });

  test('500 if a Trigger failed and its dead letter was not accepted', async () => {
    const { post, counts } = aBroker({ functions: { good: ok, bad: answering(400) } });
    expect((await post()).status).toBe(500);
    expect(counts.sort()).toEqual(['default/bad failed', 'default/good delivered']);
  });
});

describe('a delivery', () => {
  test.each([
    { what: '204 without a body', answer: ok, calls: 1, end: 'delivered' },
    { what: '200 with "OK"', answer: answering(200, 'OK'), calls: 4, end: 'failed' },
    { what: '200 with {"ok":true}', answer: answering(200, '{"ok":true}'), calls: 4, end: 'failed' },
    { what: '422', answer: answering(422), calls: 1, end: 'failed' },
    { what: '404', answer: answering(404), calls: 4, end: 'failed' },
    { what: '503', answer: answering(503), calls: 4, end: 'failed' },
  ])('answered $what takes $calls calls and is $end', async ({ answer, calls, end }) => {
    const { post, callsOf, counts } = aBroker({ functions: { f: answer } });
    await post();
    expect(callsOf('f')).toHaveLength(calls);
    expect(counts.filter((count) => !count.endsWith('retried'))).toEqual([`default/f ${end}`]);
  });

  test('keeps the id through retries', async () => {
    const { post, callsOf } = aBroker({
      functions: { f: (_, call) => new Response(null, { status: call < 3 ? 500 : 204 }) },
    });
    await post();
    expect(callsOf('f').map(({ headers }) => headers.get('ce-id'))).toEqual(['one', 'one', 'one']);
  });

  test('is aborted when the timeout of an attempt is over', async () => {
    const aborted: unknown[] = [];
    const hang = (request: Request) =>
      new Promise<Response>(() => {
        request.signal.addEventListener('abort', () => aborted.push(request.signal.reason));
      });
    const delivery = { retry: 1, backoffPolicy: 'linear', backoffDelay: 'PT0S', timeout: 'PT1S' };
    const { post, counts } = aBroker({ functions: { hang }, triggers: { hang: { delivery } } });
    await post();
    expect(aborted).toHaveLength(2);
    expect(counts).toEqual(['default/hang retried', 'default/hang failed']);
  });

  test('happens only where the filters want it', async () => {
    const other = { filters: [{ exact: { type: 'other.v1' } }] };
    const { post, calls } = aBroker({ functions: { a: ok, b: ok }, triggers: { a: {}, b: other } });
    await post();
    expect(calls.map(({ name }) => name)).toEqual(['a']);
  });

  test('with a Trigger whose delivery names no retry is tried once, the Broker notwithstanding', async () => {
    const { post, callsOf } = aBroker({
      functions: { f: answering(500) },
      triggers: { f: { delivery: { timeout: 'PT1S' } } },
    });
    await post();
    expect(callsOf('f')).toHaveLength(1);
  });
});

describe('a dead letter sink', () => {
  const deadLetterSink = { ref: { kind: 'Service', name: 'letters' } };
  const delivery = { retry: 0, deadLetterSink };

  test('gets the event with what went wrong, and the sender hears 202', async () => {
    const { post, callsOf, counts } = aBroker({
      functions: { f: answering(422, 'no such thing'), letters: ok },
      triggers: { f: { delivery } },
    });
    expect((await post({ body: '{"a":1}' })).status).toBe(202);
    const [letter] = callsOf('letters');
    expect(Object.fromEntries(letter?.headers ?? [])).toMatchObject({
      'ce-id': 'one',
      'ce-knativeerrorcode': '422',
      'ce-knativeerrordest': 'http://f.default.svc.cluster.local',
      'ce-knativeerrordata': Buffer.from('no such thing').toString('base64'),
    });
    expect(letter?.headers.has('prefer')).toBe(false);
    expect(await letter?.text()).toBe('{"a":1}');
    expect(counts).toEqual(['default/f deadLettered']);
  });

  test('is reached at the path that the Trigger names, so that it knows who failed without being told', async () => {
    const { post, callsOf } = aBroker({
      functions: { letters: ok },
      triggers: { gone: { delivery: { retry: 0, deadLetterSink: { ...deadLetterSink, uri: '/gone' } } } },
      broker: { delivery: { deadLetterSink } },
    });
    await post();
    expect(callsOf('letters').map(({ url }) => url)).toEqual(['http://letters.default.svc.cluster.local/gone']);
  });

  test.each([
    { bytes: 768, letters: 1 },
    { bytes: 769, letters: 0 },
  ])('gets $letters letter of an answer of $bytes bytes', async ({ bytes, letters }) => {
    const { post, callsOf } = aBroker({
      functions: { f: answering(422, 'x'.repeat(bytes)), letters: ok },
      triggers: { f: { delivery } },
    });
    expect((await post()).status).toBe(letters === 1 ? 202 : 500);
    expect(callsOf('letters')).toHaveLength(letters);
  });

  test('learns of a connection that was refused as of a 500', async () => {
    const { post, callsOf } = aBroker({ functions: { letters: ok }, triggers: { gone: { delivery } } });
    await post();
    const headers = callsOf('letters')[0]?.headers;
    expect(headers?.get('ce-knativeerrorcode')).toBe('500');
    const data = Buffer.from(headers?.get('ce-knativeerrordata') ?? '', 'base64').toString();
    expect(data).toMatch(/^dispatch error: Post "http:\/\/gone\..*refused/);
  });

  test('learns nothing of a body that is no CloudEvent', async () => {
    const { post, callsOf } = aBroker({
      functions: { f: answering(200, 'OK'), letters: ok },
      triggers: { f: { delivery } },
    });
    await post();
    const names = [...(callsOf('letters')[0]?.headers.keys() ?? [])];
    expect(names).toContain('ce-id');
    expect(names.filter((name) => name.startsWith('ce-knativeerror'))).toEqual([]);
  });

  test('of the Broker serves a Trigger with retries of its own', async () => {
    const { post, callsOf } = aBroker({
      functions: { f: answering(500), letters: ok },
      triggers: { f: { delivery: { retry: 1 } } },
      broker: { delivery: { retry: 3, deadLetterSink } },
    });
    await post();
    expect(callsOf('f')).toHaveLength(2);
    expect(callsOf('letters')).toHaveLength(1);
  });

  test('that fails too is tried as often as the subscriber', async () => {
    const { post, callsOf } = aBroker({
      functions: { f: answering(500), letters: answering(503) },
      triggers: { f: { delivery: { retry: 2, deadLetterSink } } },
    });
    expect((await post()).status).toBe(500);
    expect(callsOf('letters')).toHaveLength(3);
  });
});

describe('a reply', () => {
  const reply = { ...event, 'ce-id': 'two', 'ce-type': 'answered.v1' };
  const replying = () => new Response('{}', { status: 200, headers: reply });
  const triggers = {
    first: { filters: [{ exact: { type: 'made.v1' } }] },
    second: { filters: [{ exact: { type: 'answered.v1' } }] },
  };

  test('returns through the Broker to the Triggers that match it', async () => {
    const { post, callsOf, counts } = aBroker({ functions: { first: replying, second: ok }, triggers });
    expect((await post()).status).toBe(202);
    expect(callsOf('second').map(({ headers }) => headers.get('ce-id'))).toEqual(['two']);
    expect(counts).toEqual(['default/second delivered', 'default/first replied']);
  });

  test('loses one of its time to live, which no subscriber sees', async () => {
    const { post, callsOf, counts } = aBroker({ functions: { first: replying, second: ok }, triggers });
    await post({ headers: { ...event, 'ce-knativebrokerttl': '2' } });
    expect(callsOf('first')[0]?.headers.has('ce-knativebrokerttl')).toBe(false);
    expect(callsOf('second')).toEqual([]);
    expect(counts).toEqual(['default/first failed']);
  });

  test('that fails is sent again as often as its sender retries, each time with all retries of the next', async () => {
    const { post, callsOf } = aBroker({ functions: { first: replying, second: answering(500) }, triggers });
    expect((await post()).status).toBe(500);
    expect(callsOf('first')).toHaveLength(1);
    expect(callsOf('second')).toHaveLength(16);
  });

  test('with a failing neighbour comes to a healthy subscriber four times', async () => {
    const { post, callsOf } = aBroker({
      functions: { first: replying, second: answering(422), third: ok },
      triggers: { ...triggers, third: triggers.second },
    });
    await post();
    expect(callsOf('third').map(({ headers }) => headers.get('ce-id'))).toEqual(['two', 'two', 'two', 'two']);
  });
});

describe('on demand a Broker', () => {
  test('drops what a predicate names, and all', async () => {
    const drop: Faults['drop'] = ({ trigger }) => trigger === 'default/a';
    const some = aBroker({ functions: { a: ok, b: ok }, faults: { drop } });
    expect((await some.post()).status).toBe(202);
    expect(some.calls.map(({ name }) => name)).toEqual(['b']);
    expect(some.counts.sort()).toEqual(['default/a dropped', 'default/b delivered']);
    const all = aBroker({ functions: { a: ok, b: ok }, faults: { drop: 'all' } });
    await all.post();
    expect(all.calls).toEqual([]);
  });

  test('delivers twice under the same id', async () => {
    const { post, callsOf } = aBroker({ functions: { f: ok }, faults: { duplicate: 'all' } });
    await post();
    expect(callsOf('f').map(({ headers }) => headers.get('ce-id'))).toEqual(['one', 'one']);
  });

  test('reorders the same way for the same seed', () => {
    const order = (seed: number) => {
      const fate = perturb({ reorder: { seed, withinMs: 1000 }, delayMs: 5 });
      const passage = { event: { attributes: {}, data: new Uint8Array() }, trigger: 't' };
      return Array.from({ length: 20 }, () => fate(passage)[0] ?? -1);
    };
    expect(order(1)).toEqual(order(1));
    expect(order(1)).not.toEqual(order(2));
    expect(order(1)).not.toEqual(order(1).toSorted((a, b) => a - b));
    expect(Math.min(...order(1))).toBeGreaterThanOrEqual(5);
  });
});
