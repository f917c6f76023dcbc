import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { schemaIdOf } from '../events.ts';
import { publisher } from './publish.ts';

afterEach(() => void vi.restoreAllMocks());

/** A Broker that gives these answers, and then 202. */
function listening(...answers: (number | Error)[]) {
  const heard: string[] = [];
  const send = (async (_url: string, request: RequestInit) => {
    heard.push((request.headers as Record<string, string>)['ce-id'] ?? '');
    const answer = answers.shift() ?? 202;
    if (answer instanceof Error) throw answer;
    return new Response(null, { status: answer });
  }) as unknown as typeof fetch;
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  return { heard, ...publisher(() => 'http://broker.test/', '/source', send) };
}

const event = (id: string) => ({ type: 'ot.pelotech.disk-image.succeeded.v1', id, subject: 's', data: {} });
const image = { namespace: 'vmdi-farm', name: 'demo', uid: '1' };
const exists = async () => true;

describe('an event', () => {
  test('that the Broker acknowledged is not published again', async () => {
    const { heard, publish, republish } = listening();
    await publish(event('a'), image);
    await republish(exists);
    expect(heard).toEqual(['a']);
  });
  test.each([
    ['an answer of 503', 503],
    ['no answer', new Error('fetch failed')],
  ])('with %s is published again under the same id until it is acknowledged', async (_, answer) => {
    const { heard, publish, republish } = listening(answer, answer);
    await publish(event('a'), image);
    for (let sweep = 0; sweep < 4; sweep++) await republish(exists);
    expect(heard).toEqual(['a', 'a', 'a']);
  });
  test('that is never acknowledged is published three times', async () => {
    const { heard, publish, republish } = listening(...Array.from({ length: 9 }, () => 503));
    await publish(event('a'), image);
    for (let sweep = 0; sweep < 5; sweep++) await republish(exists);
    expect(heard).toEqual(['a', 'a', 'a']);
  });
  test('about an object that no longer exists is not published again; the event of its end is', async () => {
    const { heard, publish, republish } = listening(503, 503);
    await publish(event('of-image'), image);
    await publish(event('of-end'), undefined);
    await republish(async () => false);
    await republish(exists);
    expect(heard).toEqual(['of-image', 'of-end', 'of-end']);
  });
  test('waits for the next sweep if its object cannot be read', async () => {
    const { heard, publish, republish } = listening(503);
    await publish(event('a'), image);
    await republish(() => Promise.reject(new Error('no answer')));
    expect(heard).toEqual(['a']);
    await republish(exists);
    expect(heard).toEqual(['a', 'a']);
  });
});

test('an event carries its attributes and the name of its schema beside its data', async () => {
  const sent: RequestInit[] = [];
  const send = (async (_url: string, request: RequestInit) => {
    sent.push(request);
    return new Response(null, { status: 202 });
  }) as unknown as typeof fetch;
  const { publish } = publisher(() => 'http://broker.test/', '/source', send);
  await publish({ ...event('a'), attributes: { named: 'true' } }, image);
  const headers = { 'ce-id': 'a', 'ce-source': '/source', 'ce-named': 'true' };
  expect(sent).toMatchObject([{ headers, body: '{}' }]);
  expect(sent).toMatchObject([{ headers: { 'ce-dataschema': schemaIdOf('ot.pelotech.disk-image.succeeded.v1') } }]);
});

test('an event carries the token that its file holds at that moment', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const folder = await mkdtemp(join(tmpdir(), 'tell-'));
  const file = join(folder, 'token');
  const heard = Promise.withResolvers<string | undefined>();
  const again = Promise.withResolvers<string | undefined>();
  const waiting = [heard, again];
  const send = (async (_url: string, request: RequestInit) => {
    waiting.shift()?.resolve((request.headers as Record<string, string>).authorization);
    return new Response(null, { status: 401 });
  }) as unknown as typeof fetch;
  const { publish, republish } = publisher(
    () => 'http://broker.test/',
    '/source',
    send,
    () => file,
  );
  await writeFile(file, 'first\n');
  const told = publish(event('a'), image);
  expect(await heard.promise).toBe('Bearer first');
  await writeFile(file, 'renewed\n');
  await told;
  void republish(exists);
  expect(await again.promise).toBe('Bearer renewed');
  await rm(folder, { recursive: true });
});
