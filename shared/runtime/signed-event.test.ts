import { expect, test } from 'vitest';
import * as z from 'zod';
import { type FunctionDeclaration, on } from '../function.ts';
import { isPublicationKey, signatureAttributes, signedAtMs } from '../images/signature.ts';
import { readIncoming } from './incoming.ts';

const key = 'whsec_plJ3nmyCDGBKInavdOK15jslM2Xwxnyz';
const id = '4711.1';
const atMs = 1_674_087_231_000;
const data = { name: 'debian-12', url: 'https://s3.example/a?b=1&c=<é>' };
const signature = signatureAttributes(key, { id, data, atMs });
const attributes = { specversion: '1.0', id, source: 'https://ci', type: 'published', ...signature };
const declaration = { on: [on.event('published', z.unknown())] } as unknown as FunctionDeclaration;

const binary = {
  'content-type': 'application/json',
  ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value])),
};
const structured = { 'content-type': 'application/cloudevents+json' };
const event = { ...attributes, datacontenttype: 'application/json', data };

test.each<[string, Record<string, string>, string]>([
  ['as it was sent', binary, JSON.stringify(data)],
  ['with white space', binary, JSON.stringify(data, undefined, 2)],
  // The SDK of Knative 1.20 keeps what precedes `data` in a structured event.
  ['with white space before it', binary, ` ${JSON.stringify(data, undefined, 2)}`],
  ['as the SDK of Knative 1.20 writes a structured event', structured, escaped(JSON.stringify(event))],
  ['with a time that is a number', structured, JSON.stringify({ ...event, webhooktimestamp: atMs / 1000 })],
  ['without a Content-Type of its data', structured, JSON.stringify({ ...event, datacontenttype: undefined })],
])('an event that a Broker delivers %s keeps its signature', (_, headers, body) => {
  const incoming = readIncoming(declaration, headers, body);
  const [message] = 'batch' in incoming ? incoming.batch.messages : [];
  expect(message?.signed && signedAtMs(message.id, message.signed, [key])).toBe(atMs);
});

/** Go's encoding/json. */
function escaped(json: string) {
  return json.replaceAll('&', '\\u0026').replaceAll('<', '\\u003c').replaceAll('>', '\\u003e');
}

test.each([
  ['whsec_', false],
  [`whsec_${Buffer.alloc(23).toString('base64')}`, false],
  [`whsec_${Buffer.alloc(24).toString('base64')}`, true],
  [`whsec_${Buffer.alloc(64).toString('base64')}`, true],
  [`whsec_${Buffer.alloc(65).toString('base64')}`, false],
  [Buffer.alloc(32).toString('base64'), false],
  [`whsec_${Buffer.alloc(32).toString('base64').slice(0, -1)}`, false],
])('%s is a key: %s', (text, is) => {
  expect(isPublicationKey(text)).toBe(is);
});
