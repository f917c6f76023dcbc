import { HTTP } from 'cloudevents';
import { describe, expect, test } from 'vitest';
import { comparable, comparableRequest, recorded } from '../../../test/support/tools/recorded-knative-events.ts';
import { realClock } from '../clock.ts';
import { type Handler, resolver } from './address.ts';
import { brokerIngress } from './broker.ts';
import type { DeliveryResult } from './deliver.ts';
import { type Faults, perturb } from './faults.ts';
import { Broker, Trigger } from './resources.ts';

const url = 'http://127.0.0.1:1';

interface Setup {
  functions?: Record<string, () => Response>;
  triggers?: Record<string, object>;
  faults?: Faults;
}

/** A Broker default/default whose clock jumps over every wait; each function answers a Trigger of its name. */
function aBroker({ functions = {}, triggers, faults = {} }: Setup) {
  const calls: { name: string; request: Request }[] = [];
  const counts: string[] = [];
  const brokerObject = Broker.parse({
    metadata: { name: 'default', namespace: 'default' },
    spec: { delivery: { retry: 3, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S' } },
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
        const answer = functions[name]?.();
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
    running: () => {},
  });
  const post = (init: RequestInit = {}) =>
    ingress(new Request(`${url}/default/default`, { method: 'POST', headers: event, ...init }));
  const callsOf = (name: string) => calls.filter((call) => call.name === name).map(({ request }) => request);
  return { post, calls, callsOf, counts };
}

const event = {
  'ce-specversion': '1.0',
  'ce-id': 'one',
  'ce-source': '/test',
  'ce-type': 'made.v1',
  'content-type': 'application/json',
};
const ok = () => new Response(null, { status: 204 });
const answering = (status: number, body?: string) => () => new Response(body ?? null, { status });

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

// What the ingress answers, what a delivery retries, what a dead letter says and where a reply goes: test/proofs/contract/eventing.

test('the ingress answers 503 while the Broker is out', async () => {
  expect((await aBroker({ faults: { outage: true } }).post()).status).toBe(503);
});

describe('what became of each delivery is counted', () => {
  const letters = { deadLetterSink: { ref: { kind: 'Service', name: 'letters' } } };
  const reply = { ...event, 'ce-id': 'two', 'ce-type': 'answered.v1' };
  const made = { filters: [{ exact: { type: 'made.v1' } }] };
  const answered = { filters: [{ exact: { type: 'answered.v1' } }] };

  test.each<{ what: string; setup: Setup; counts: string[] }>([
    { what: 'delivered', setup: { functions: { f: ok } }, counts: ['default/f delivered'] },
    {
      what: 'delivered and failed',
      setup: { functions: { good: ok, bad: answering(422) } },
      counts: ['default/bad failed', 'default/good delivered'],
    },
    {
      what: 'retried, then failed',
      setup: { functions: { f: answering(500) }, triggers: { f: { delivery: { retry: 1 } } } },
      counts: ['default/f failed', 'default/f retried'],
    },
    {
      what: 'brought to the dead letter sink',
      setup: { functions: { f: answering(422), letters: ok }, triggers: { f: { delivery: letters } } },
      counts: ['default/f deadLettered'],
    },
    {
      what: 'replied to',
      setup: {
        functions: { first: () => new Response('{}', { headers: reply }), second: ok },
        triggers: { first: made, second: answered },
      },
      counts: ['default/first replied', 'default/second delivered'],
    },
  ])('$what', async ({ setup, counts }) => {
    const broker = aBroker(setup);
    await broker.post();
    expect(broker.counts.sort()).toEqual(counts);
  });
});

test('an answer of more than 768 bytes, which crashes the real dispatcher where letters are sent, sends none', async () => {
  const { post, callsOf } = aBroker({
    functions: { f: answering(422, 'x'.repeat(769)), letters: ok },
    triggers: { f: { delivery: { deadLetterSink: { ref: { kind: 'Service', name: 'letters' } } } } },
  });
  expect((await post()).status).toBe(500);
  expect(callsOf('letters')).toEqual([]);
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
