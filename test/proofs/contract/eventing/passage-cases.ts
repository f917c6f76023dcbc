import { type EventHeaders, eventOf } from './event.ts';

/** A request to a Broker and the request that its function gets. */
export interface PassageCase {
  what: string;
  /** `{type}` in headers and body is an event type of the case's own. */
  sent: { headers: EventHeaders; body?: string };
  got: { headers: EventHeaders; body: string };
}

const inJson = { 'content-type': 'application/cloudevents+json' };
const added = { 'ce-knativearrivaltime': 'a time', 'kn-namespace': '{ns}', prefer: 'reply' };
const json = { 'content-type': 'application/json' };
const event = eventOf('{type}');
const structured = (more: object) =>
  JSON.stringify({ specversion: '1.0', id: 'one', source: '/contract', type: '{type}', ...more });

/** What a Broker adds to an event and takes from it, header by header. */
export const passageCases: readonly PassageCase[] = [
  {
    what: 'an event in binary mode gets an arrival time, Kn-Namespace and Prefer: reply',
    sent: { headers: { ...event, ...json }, body: '{"a": 1}' },
    got: { headers: { ...event, ...json, ...added }, body: '{"a": 1}' },
  },
  {
    what: 'an event without data stays without',
    sent: { headers: event },
    got: { headers: { ...event, ...added }, body: '' },
  },
  {
    what: 'all optional attributes and extensions are kept',
    sent: {
      headers: {
        ...event,
        ...json,
        'ce-subject': 'a/b',
        'ce-time': '2026-01-02T03:04:05.678Z',
        'ce-dataschema': 'https://example.com/schema',
        'ce-kind': 'Widget',
        'ce-namespace': '',
      },
      body: '{}',
    },
    got: {
      headers: {
        ...event,
        ...json,
        ...added,
        'ce-subject': 'a/b',
        'ce-time': 'a time',
        'ce-dataschema': 'https://example.com/schema',
        'ce-kind': 'Widget',
        'ce-namespace': '',
      },
      body: '{}',
    },
  },
  {
    what: 'the time to live is taken away',
    sent: { headers: { ...event, 'ce-knativebrokerttl': '7' } },
    got: { headers: { ...event, ...added }, body: '' },
  },
  {
    what: 'an arrival time of the sender is replaced',
    sent: { headers: { ...event, 'ce-knativearrivaltime': 'yesterday' } },
    got: { headers: { ...event, ...added }, body: '' },
  },
  {
    what: 'of other headers only x-request-id, x-b3-*, knative-* and retry-after are passed on',
    sent: {
      headers: {
        ...event,
        'x-request-id': 'r1',
        'x-b3-traceid': 't1',
        'knative-hint': 'h1',
        'retry-after': '9',
        'x-other': 'no',
        authorization: 'Bearer no',
        prefer: 'no',
      },
    },
    got: {
      headers: {
        ...event,
        ...added,
        'x-request-id': 'r1',
        'x-b3-traceid': 't1',
        'knative-hint': 'h1',
        'retry-after': '9',
      },
      body: '',
    },
  },
  {
    what: 'an event in structured mode goes on in binary mode',
    sent: { headers: inJson, body: structured({ datacontenttype: 'application/json', subject: 's', data: { a: 1 } }) },
    got: { headers: { ...event, ...json, ...added, 'ce-subject': 's' }, body: '{"a":1}' },
  },
  {
    what: 'a structured event without datacontenttype has no content type',
    sent: { headers: inJson, body: structured({ data: { a: 1 } }) },
    got: { headers: { ...event, ...added }, body: '{"a":1}' },
  },
  {
    what: 'an extension in upper case becomes lower case',
    sent: { headers: inJson, body: structured({ Upper: 'x' }) },
    got: { headers: { ...event, ...added, 'ce-upper': 'x' }, body: '' },
  },
  {
    what: 'numbers and booleans of a structured event become text',
    sent: { headers: inJson, body: structured({ count: 3, fresh: true }) },
    got: { headers: { ...event, ...added, 'ce-count': '3', 'ce-fresh': 'true' }, body: '' },
  },
  {
    what: 'structured text and base64 data become bytes',
    sent: { headers: inJson, body: structured({ datacontenttype: 'text/plain', data_base64: 'aGVsbG8=' }) },
    got: { headers: { ...event, ...added, 'content-type': 'text/plain' }, body: 'hello' },
  },
  {
    what: 'version 0.3 stays version 0.3',
    sent: { headers: { ...eventOf('{type}', { 'ce-specversion': '0.3' }), ...json }, body: '{}' },
    got: { headers: { ...event, 'ce-specversion': '0.3', ...json, ...added }, body: '{}' },
  },
];
