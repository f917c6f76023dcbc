import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { teller } from './tell.ts';

function listening() {
  const heard: string[] = [];
  const send = (async (_url: string, request: RequestInit) => {
    heard.push((request.headers as Record<string, string>)['ce-id'] ?? '');
    return new Response(null, { status: 202 });
  }) as unknown as typeof fetch;
  return { heard, ...teller(() => 'http://broker.test/', '/source', send) };
}

test('an event is told at once and on the next two sweeps under the same id, then no more', () => {
  const { heard, tell, retell } = listening();
  tell({ type: 'ot.pelotech.disk-image.succeeded.v1', id: 'a', subject: 's', data: {} });
  retell();
  tell({ type: 'ot.pelotech.disk-image.succeeded.v1', id: 'b', subject: 's', data: {} });
  retell();
  retell();
  retell();
  expect(heard).toEqual(['a', 'a', 'b', 'a', 'b', 'b']);
});

test('an event carries the token that its file holds at that moment', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tell-'));
  const file = join(folder, 'token');
  const heard = Promise.withResolvers<string | undefined>();
  const again = Promise.withResolvers<string | undefined>();
  const waiting = [heard, again];
  const send = (async (_url: string, request: RequestInit) => {
    waiting.shift()?.resolve((request.headers as Record<string, string>).authorization);
    return new Response(null, { status: 202 });
  }) as unknown as typeof fetch;
  const { tell, retell } = teller(
    () => 'http://broker.test/',
    '/source',
    send,
    () => file,
  );
  await writeFile(file, 'first\n');
  tell({ type: 'ot.pelotech.disk-image.succeeded.v1', id: 'a', subject: 's', data: {} });
  expect(await heard.promise).toBe('Bearer first');
  await writeFile(file, 'renewed\n');
  retell();
  expect(await again.promise).toBe('Bearer renewed');
  await rm(folder, { recursive: true });
});
