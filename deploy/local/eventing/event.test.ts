import { describe, expect, test } from 'vitest';
import { eventRequest, readEvent } from './event.ts';

const structured = (fields: object) =>
  new Request('http://sink/', {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' },
    body: JSON.stringify({ specversion: '1.0', id: 'one', source: '/test', type: 'made.v1', ...fields }),
  });

/** What a subscriber gets of a structured event. */
async function sentOn(fields: object) {
  const request = eventRequest('http://subscriber/', await readEvent(structured(fields)));
  return { headers: Object.fromEntries(request.headers), body: await request.text() };
}

// What becomes of each attribute: test/proofs/contract/eventing/passage-cases.ts.
describe('a structured event is passed on in binary mode', () => {
  test('with the white space that stands before its data', async () => {
    const event = { specversion: '1.0', id: 'one', source: '/test', type: 'made.v1', data: { a: 1 } };
    const body = JSON.stringify(event, undefined, 2);
    const headers = { 'content-type': 'application/cloudevents+json' };
    const { data } = await readEvent(new Request('http://sink/', { method: 'POST', headers, body }));
    expect(new TextDecoder().decode(data)).toBe(' {"a":1}');
  });

  test.each([
    {
      what: 'JSON text',
      fields: { data: 'a', datacontenttype: 'application/json' },
      body: '"a"',
      type: 'application/json',
    },
    { what: 'plain text', fields: { data: 'a', datacontenttype: 'text/plain' }, body: 'a', type: 'text/plain' },
  ])('with its data as the body: $what', async ({ fields, body, type }) => {
    const sent = await sentOn(fields);
    expect(sent.body).toBe(body);
    expect(sent.headers['content-type']).toBe(type);
  });

  test('with characters that no header takes percent-encoded', async () => {
    expect((await sentOn({ subject: 'Prüfung 1' })).headers['ce-subject']).toBe('Pr%C3%BCfung%201');
  });
});

test('an event in binary mode comes out as it came in', async () => {
  const headers = {
    'ce-specversion': '1.0',
    'ce-id': 'one',
    'ce-source': '/test',
    'ce-type': 'made.v1',
    'ce-time': '2026-01-01T00:00:00.123456789Z',
    'ce-namespace': '',
    'content-type': 'application/octet-stream',
  };
  const bytes = new Uint8Array([0, 255, 128]);
  const event = await readEvent(new Request('http://sink/', { method: 'POST', headers, body: bytes }));
  const request = eventRequest('http://subscriber/', event);
  expect(Object.fromEntries(request.headers)).toEqual(headers);
  expect(new Uint8Array(await request.arrayBuffer())).toEqual(bytes);
});
