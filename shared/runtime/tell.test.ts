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
