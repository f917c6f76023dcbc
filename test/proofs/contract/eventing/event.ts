/** The attributes of an event as they stand in HTTP headers, `content-type` among them. */
export type EventHeaders = Readonly<Record<string, string>>;

/** The headers of an event in binary mode with this type, and whatever else. */
export const eventOf = (type: string, more: EventHeaders = {}): EventHeaders => ({
  'ce-specversion': '1.0',
  'ce-id': 'one',
  'ce-source': '/contract',
  'ce-type': type,
  ...more,
});

/** Headers that belong to the HTTP client and the connection, not to the event. */
const ofTransport = [
  'host',
  'user-agent',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'accept-language',
  'accept',
  'connection',
  'sec-fetch-mode',
];

const masks: readonly { name: RegExp; value: RegExp; mask: string }[] = [
  { name: /^ce-id$/, value: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, mask: 'a UUID' },
  { name: /^ce-(time|knativearrivaltime)$/, value: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, mask: 'a time' },
  { name: /^ce-source$/, value: /^https:\/\/[\w.-]+(:\d+)?$/, mask: 'a host' },
];

/** The headers that say something, with what differs each time made equal. */
export function comparable(headers: EventHeaders): EventHeaders {
  const entries = Object.entries(headers).filter(([name]) => !ofTransport.includes(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, masked(name, value)]));
}

const masked = (name: string, text: string) =>
  masks.find((mask) => mask.name.test(name) && mask.value.test(text))?.mask ?? text;
