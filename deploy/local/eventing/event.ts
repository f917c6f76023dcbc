import { CloudEvent, ValidationError } from 'cloudevents';

/** A CloudEvent as the Broker passes it on: attributes as strings exactly as they came, the data as bytes. */
export interface Event {
  attributes: Readonly<Record<string, string>>;
  contentType?: string | undefined;
  data: Uint8Array<ArrayBuffer>;
}

const structured = 'application/cloudevents+json';

/** True where the message claims to be an event (not yet that it is a sound one). */
export const isEventMessage = (message: { headers: Headers }) =>
  message.headers.has('ce-specversion') ||
  (message.headers.get('content-type') ?? '').startsWith('application/cloudevents');

/** Reads an event in binary or structured mode, versions 1.0 and 0.3; throws a ValidationError saying what is wrong. */
export async function readEvent(message: Request | Response): Promise<Event> {
  const contentType = message.headers.get('content-type') ?? undefined;
  const bytes = new Uint8Array(await message.arrayBuffer());
  if (contentType?.startsWith(structured)) return fromStructured(new TextDecoder().decode(bytes));
  if (contentType?.startsWith('application/cloudevents')) {
    throw new ValidationError(`expected one CloudEvent in binary mode or as ${structured}, found ${contentType}`);
  }
  const attributes = Object.fromEntries(
    [...message.headers]
      .filter(([name]) => name.startsWith('ce-'))
      .map(([name, value]) => [name.slice('ce-'.length), value]),
  );
  requireAttributes(attributes);
  new CloudEvent(attributes, true);
  return { attributes, contentType, data: bytes };
}

/** The request that carries the event in binary mode, as Knative's senders write it. */
export function eventRequest(url: string, event: Event, headers: Readonly<Record<string, string>> = {}): Request {
  const all = new Headers(headers);
  for (const [name, value] of Object.entries(event.attributes)) all.set(`ce-${name}`, value);
  if (event.contentType) all.set('content-type', event.contentType);
  return new Request(url, { method: 'POST', headers: all, body: event.data.length > 0 ? event.data : null });
}

/** The same event with these attributes set, or taken away where the value is undefined. */
export function withAttributes(event: Event, changes: Readonly<Record<string, string | undefined>>): Event {
  const attributes = Object.entries({ ...event.attributes, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { ...event, attributes: Object.fromEntries(attributes) };
}

function requireAttributes(attributes: Readonly<Record<string, unknown>>) {
  const missing = ['id', 'source', 'type', 'specversion'].filter((name) => !attributes[name]);
  if (missing.length > 0) throw new ValidationError(`expected a CloudEvent, found none of: ${missing.join(', ')}`);
  if (attributes.specversion !== '1.0' && attributes.specversion !== '0.3') {
    throw new ValidationError(`expected specversion 1.0 or 0.3, found ${attributes.specversion}`);
  }
}

function fromStructured(text: string): Event {
  // Knative accepts attribute names in any case, and uses lower case.
  const fields = Object.fromEntries(
    Object.entries(parseObject(text)).map(([name, value]) => [name.toLowerCase(), value]),
  );
  requireAttributes(fields);
  new CloudEvent(fields, true);
  const { data, data_base64, datacontenttype, ...attributes } = fields;
  const contentType = typeof datacontenttype === 'string' ? datacontenttype : undefined;
  return {
    attributes: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, headerValue(value)])),
    contentType,
    data: bytesOf(data, data_base64, contentType, whiteSpaceBeforeData(text)),
  };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {}
  throw new ValidationError(`expected a JSON object, found ${text.slice(0, 100)}`);
}

/** Knative's SDK keeps it as part of the data. */
const whiteSpaceBeforeData = (text: string) => /"data"\s*:(\s*)/.exec(text)?.[1] ?? '';

function bytesOf(
  data: unknown,
  base64: unknown,
  contentType = 'application/json',
  before = '',
): Uint8Array<ArrayBuffer> {
  if (typeof base64 === 'string') return Uint8Array.from(Buffer.from(base64, 'base64'));
  if (data === undefined) return new Uint8Array();
  const isText = typeof data === 'string' && !/[/+]json/.test(contentType);
  return new TextEncoder().encode(isText ? data : before + JSON.stringify(data));
}

/** CloudEvents HTTP binding, section 3.1.3.2: what a header cannot carry is percent-encoded. */
const headerValue = (value: unknown) => String(value).replace(/[^\x21\x23\x24\x26-\x7e]+/g, encodeURIComponent);
