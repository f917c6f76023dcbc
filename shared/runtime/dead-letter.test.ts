import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Batch, defineFunction, on } from '../function.ts';
import { readDeadLetter } from './dead-letter.ts';
import { serve } from './http.ts';
import type { Kube } from './kube.ts';
import { telemetryOf } from './telemetry/telemetry.ts';

const sink = 'http://dead-letters.sync-operator.svc.cluster.local';
const event = { 'ce-specversion': '1.0', 'ce-id': 'e-1', 'ce-source': '/ci', 'ce-type': 'made.v1' };
const post = (path: string, more: Record<string, string> = {}, body = '{"name":"x"}') =>
  new Request(sink + path, { method: 'POST', headers: { ...event, ...more }, body });
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('the function that failed is', () => {
  const preload = { 'ce-knativeerrordest': 'http://preload.sync-operator.svc.cluster.local' };
  test.each([
    ['the one that the path names, without any header', '/prune', {}, 'prune'],
    ['the one that the path names, whatever the headers say', '/prune', preload, 'prune'],
    ['else the one that the Broker names', '/', preload, 'preload'],
    ['else unknown', '/', {}, undefined],
    ['unknown where it is in another namespace', '/', { 'ce-knativeerrordest': 'http://x.lab.svc' }, undefined],
    ['unknown where that is no name', '/%3Cscript%3E', {}, undefined],
    ['unknown where that is too long a name', `/${'x'.repeat(64)}`, {}, undefined],
  ])('%s', async (_, path, more, failed) => {
    expect((await readDeadLetter(post(path, more)))?.failed).toBe(failed);
  });
});

describe('its answer was', () => {
  test.each([
    ['the code that the Broker passes on', { 'ce-knativeerrorcode': '413' }, '413'],
    ['none after a timeout, when the Broker says nothing', {}, undefined],
    [
      'none where the Broker made up a code, for it could not be reached',
      { 'ce-knativeerrorcode': '500', 'ce-knativeerrordata': base64('dispatch error: Post "http://x": EOF') },
      undefined,
    ],
    ['none where that is no code', { 'ce-knativeerrorcode': 'teapot' }, undefined],
  ])('%s', async (_, more, code) => {
    expect((await readDeadLetter(post('/prune', more)))?.code).toBe(code);
  });
});

describe('what was wrong with it, in the words of the function', () => {
  const told = async (answer: string | Buffer, code = '400') =>
    (
      await readDeadLetter(
        post('/preload', {
          'ce-knativeerrorcode': code,
          'ce-knativeerrordata': Buffer.from(answer).toString('base64'),
        }),
      )
    )?.faults;
  test('is what its answer says, on one line', async () => {
    const answer = JSON.stringify({ faults: ['data.name: expected letters', 'data: Unrecognized key: "secretRef"'] });
    expect(await told(answer)).toBe('data.name: expected letters; data: Unrecognized key: "secretRef"');
  });
  test.each([
    ['is no JSON', 'hush'],
    ['is JSON cut off', '{"faults":["hush'],
    ['is another object', '{"error":"hush"}'],
    ['has faults that are no list of texts', '{"faults":[{"hush":1}]}'],
    ['has no faults', '{"faults":[]}'],
    ['is null', 'null'],
    ['is no UTF-8', Buffer.from([0xff, 0xfe, 0x00])],
    ['is longer than Knative hands on', JSON.stringify({ faults: ['x'.repeat(2000)] })],
  ])('is nothing where the answer %s', async (_, answer) => {
    expect(await told(answer)).toBeUndefined();
  });
  test('is nothing where its answer was another than that the event is malformed', async () => {
    expect(await told('{"faults":["hush"]}', '503')).toBeUndefined();
  });
  test('cannot break the line, steer a terminal or turn the text around', async () => {
    expect(await told(JSON.stringify({ faults: ['a\nb\u001b[31m\u2028\u202ec\u0000'] }))).toBe('a?b?[31m??c?');
  });
  test('whatever it is, is short printable text or nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json(),
          fc.record({ faults: fc.array(fc.string({ unit: 'binary' })) }).map((value) => JSON.stringify(value)),
        ),
        async (answer) => {
          expect((await told(answer)) ?? 'x').toMatch(/^[^\p{C}\p{Zl}\p{Zp}]{1,768}$/u);
        },
      ),
    );
  });
});

describe('an event', () => {
  const structured = { 'content-type': 'application/cloudevents+json' };
  test('names its object', async () => {
    const object = {
      'ce-apiversion': 'v1',
      'ce-kind': 'Pod',
      'ce-namespace': 'lab',
      'ce-name': 'p',
      'ce-subject': '/p',
    };
    expect(await readDeadLetter(post('/prune', object))).toMatchObject({
      subject: '/p',
      about: { apiVersion: 'v1', kind: 'Pod', namespace: 'lab', name: 'p' },
    });
  });
  test('in structured mode is the same', async () => {
    const body = JSON.stringify({
      id: 'e-1',
      source: '/ci',
      type: 'made.v1',
      knativeerrorcode: 400,
      data: { id: 'x' },
    });
    const request = new Request(`${sink}/prune`, { method: 'POST', headers: structured, body });
    expect(await readDeadLetter(request)).toMatchObject({ id: 'e-1', code: '400', failed: 'prune' });
  });
  test.each([
    ['is no JSON', '{"name":'],
    ['is over 1 MiB', 'x'.repeat(2 * 1024 * 1024)],
    ['is empty', ''],
  ])('whose data %s is a letter like any other', async (_, body) => {
    expect(await readDeadLetter(post('/preload', { 'content-type': 'application/json' }, body))).toMatchObject({
      id: 'e-1',
      failed: 'preload',
    });
  });
  test("is reported without what no one should read: its data, its source's password and token, control characters", async () => {
    const body = JSON.stringify({
      id: 'e\u001b[31m',
      type: 'made.v1',
      source: 'https://ci:hush@ci.example/42?token=hush#hush',
      data: 'hush',
      data_base64: 'hush',
    });
    const request = new Request(`${sink}/prune`, { method: 'POST', headers: structured, body });
    const letter = await readDeadLetter(request);
    expect(letter).toMatchObject({ id: 'e?[31m', source: 'https://ci.example/42' });
    expect(JSON.stringify(letter)).not.toContain('hush');
  });
});

/** A function for dead letters whose reconciles fail as they are told to, and what it was woken with. */
function aSink(fail: () => Promise<void> = async () => undefined) {
  const lines = vi.spyOn(console, 'error').mockClear();
  lines.mockImplementation(() => undefined);
  onTestFinished(() => lines.mockRestore());
  const batches: Batch[] = [];
  const pauses: number[] = [];
  const declaration = defineFunction<unknown>({
    name: 'dead-letters',
    on: [on.deadLetter()],
    may: [],
    scale: 'zero',
    observe: async (_, batch) => {
      batches.push(batch);
      await fail();
      return [];
    },
    decide: () => [],
  });
  const { app, drain } = serve(declaration, {
    kube: {} as Kube,
    telemetry: telemetryOf('dead-letters'),
    now: () => 0,
    pause: async (milliseconds) => void pauses.push(milliseconds),
    random: () => 0,
    publisher: { publish: () => undefined, republish: () => undefined },
  });
  const answer = async (request: Request) => {
    const response = await app.fetch(request);
    return [response.status, await response.text()];
  };
  return { answer, drain, batches, pauses, logged: () => lines.mock.calls.map(([line]) => String(line)) };
}

describe('a function for dead letters', () => {
  test('is woken by any event, at any path, and answers 202 with an empty body', async () => {
    const { answer, drain, batches } = aSink();
    for (const path of ['/', '/prune']) expect(await answer(post(path))).toEqual([202, '']);
    await drain();
    expect(batches.flatMap(({ messages }) => messages)).toMatchObject([
      { id: 'e-1', type: 'made.v1', data: { failed: undefined } },
      { id: 'e-1', type: 'made.v1', data: { failed: 'prune' } },
    ]);
  });
  test('answers before its reconcile is over, and never so that the letter comes again', async () => {
    const gate = Promise.withResolvers<void>();
    const { answer, drain, logged } = aSink(() => gate.promise);
    expect(await answer(post('/prune'))).toEqual([202, '']);
    gate.reject(new Error('etcd is away'));
    await drain();
    expect(logged().join('\n')).toContain('etcd is away');
    expect(await answer(post('/prune'))).toEqual([202, '']);
    await drain();
  });
  test('takes all letters that come during a reconcile, and for a second after it, in the next one', async () => {
    const gate = Promise.withResolvers<void>();
    const { answer, drain, batches, pauses } = aSink(() => gate.promise);
    for (let i = 0; i < 500; i++) await answer(post('/prune', { 'ce-id': `e-${i}` }));
    gate.resolve();
    await drain();
    expect(batches.map(({ messages }) => messages.length)).toEqual([1, 499]);
    expect(pauses).toEqual([1000, 1000]);
  });
  test('answers 400 with an empty body to what is no event', async () => {
    const { answer, batches } = aSink();
    expect(await answer(new Request(`${sink}/prune`, { method: 'POST', body: '{}' }))).toEqual([400, '']);
    expect(batches).toEqual([]);
  });
  test('answers whatever it is sent with one of 202 and 400, which no sender repeats', async () => {
    const { answer, drain } = aSink();
    const header = fc.constantFrom('ce-id', 'ce-source', 'ce-type', 'ce-time', 'ce-knativeerrordest', 'content-type');
    const value = fc.oneof(
      fc.stringMatching(/^[!-~]([ -~]{0,30}[!-~])?$/),
      fc.constantFrom('application/cloudevents+json', 'application/cloudevents-batch+json', 'http://'),
    );
    const body = fc.oneof(fc.json(), fc.string(), fc.constantFrom('null', '[null]', '0'));
    await fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^\/[a-zA-Z0-9%._~!$&'-]{0,70}$/),
        fc.dictionary(header, value),
        body,
        async (path, headers, text) => {
          const [status, said] = await answer(post(path, headers, text));
          expect([202, 400]).toContain(status);
          expect(said).toBe('');
        },
      ),
      { numRuns: 300 },
    );
    await drain();
  });
});
