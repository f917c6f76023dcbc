import type { DeviationName } from '../../../../deploy/local/eventing/deviations.ts';
import { type EventHeaders, eventOf } from './event.ts';

/** A request to the Broker ingress and how it is answered. */
export interface IngressCase {
  what: string;
  method?: string;
  /** In place of the path of a Broker without Triggers; `{ns}` is the contract's namespace. */
  path?: string;
  headers?: EventHeaders;
  body?: string;
  status: number;
  /** Headers of the answer, as far as they matter. */
  answer?: Readonly<Record<string, string>>;
  /** What keeps the local cluster from it. */
  deviation?: DeviationName;
}

const made = eventOf('made.v1');
const json = { ...made, 'content-type': 'application/json' };
const inJson = { 'content-type': 'application/cloudevents+json' };
const without = (name: string) => Object.fromEntries(Object.entries(made).filter(([header]) => header !== name));
const structured = (more: object) =>
  JSON.stringify({ specversion: '1.0', id: 'one', source: '/contract', type: 'made.v1', ...more });
const batch = { 'content-type': 'application/cloudevents-batch+json' };

/** Every row of what Knative's broker ingress answers, OIDC apart. */
export const ingressCases: IngressCase[] = [
  { what: 'an event without a body', headers: made, status: 202 },
  { what: 'an event with a body', headers: json, body: '{"a":1}', status: 202 },
  { what: 'a body that is not the declared JSON', headers: json, body: 'no json', status: 202 },
  { what: 'an event of version 0.3', headers: eventOf('made.v1', { 'ce-specversion': '0.3' }), status: 202 },
  { what: 'a structured event', headers: inJson, body: structured({ data: { a: 1 } }), status: 202 },
  { what: 'a structured event without data', headers: inJson, body: structured({}), status: 202 },
  {
    what: 'a structured event of version 0.3',
    headers: inJson,
    body: structured({ specversion: '0.3', data: {} }),
    status: 202,
  },
  { what: 'an empty extension', headers: eventOf('made.v1', { 'ce-namespace': '' }), status: 202 },
  { what: 'a path that ends in a slash', path: '/{ns}/empty/', headers: made, status: 202 },
  { what: 'no ce-type', headers: without('ce-type'), status: 400 },
  { what: 'no ce-id', headers: without('ce-id'), status: 400 },
  { what: 'no ce-source', headers: without('ce-source'), status: 400 },
  { what: 'no ce-specversion', headers: without('ce-specversion'), status: 400 },
  { what: 'an event of version 2.0', headers: eventOf('made.v1', { 'ce-specversion': '2.0' }), status: 400 },
  { what: 'no CloudEvent at all', headers: { 'content-type': 'application/json' }, body: '{}', status: 400 },
  { what: 'structured JSON that does not parse', headers: inJson, body: '{', status: 400 },
  { what: 'a structured event without an id', headers: inJson, body: '{"specversion":"1.0"}', status: 400 },
  { what: 'a batch', headers: batch, body: `[${structured({})}]`, status: 400 },
  { what: 'an extension with _', headers: eventOf('made.v1', { 'ce-my_name': 'x' }), status: 400 },
  { what: 'a structured extension with _', headers: inJson, body: structured({ my_name: 'x' }), status: 400 },
  { what: 'a structured extension in upper case', headers: inJson, body: structured({ Upper: 'x' }), status: 202 },
  { what: 'the last of its time to live', headers: eventOf('made.v1', { 'ce-knativebrokerttl': '1' }), status: 400 },
  { what: 'more time to live', headers: eventOf('made.v1', { 'ce-knativebrokerttl': '2' }), status: 202 },
  {
    what: 'a time to live that is no number',
    headers: eventOf('made.v1', { 'ce-knativebrokerttl': 'long' }),
    status: 202,
  },
  { what: 'a Broker that does not exist', path: '/{ns}/nobody', headers: made, status: 404 },
  { what: 'a namespace that does not exist', path: '/nowhere/empty', headers: made, status: 404 },
  { what: 'no event for a Broker that does not exist', path: '/{ns}/nobody', headers: {}, status: 400 },
  { what: 'the path /', path: '/', headers: made, status: 404 },
  { what: 'a query string', path: '/{ns}/empty?x=1', headers: made, status: 404 },
  { what: 'a path of one segment', path: '/{ns}', headers: made, status: 400 },
  { what: 'a path of three segments', path: '/{ns}/empty/more', headers: made, status: 400 },
  { what: 'GET', method: 'GET', status: 405, answer: { allow: 'POST, OPTIONS' } },
  { what: 'PUT', method: 'PUT', headers: made, status: 405, answer: { allow: 'POST, OPTIONS' } },
  { what: 'OPTIONS', method: 'OPTIONS', status: 200, answer: { 'webhook-allowed-origin': '*' } },
  {
    what: 'a Broker that is not ready',
    path: '/{ns}/unready',
    headers: made,
    status: 500,
    deviation: 'unready-broker',
  },
];
