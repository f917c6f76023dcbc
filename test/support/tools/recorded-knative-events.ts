import { readFile } from 'node:fs/promises';

/** A request as Knative sent it, recorded from its binaries. */
interface Recorded {
  headers: Record<string, string>;
  body: unknown;
  rawBody: string;
}

const file = new URL('../../proofs/fixtures/knative-events.json', import.meta.url);

/** Reads a recorded request by its name. */
export async function recorded(name: string): Promise<Recorded> {
  const all = JSON.parse(await readFile(file, 'utf8')) as Readonly<Record<string, { request: Recorded }>>;
  const found = all[name];
  if (!found)
    throw new Error(`expected a request named ${name} in test/proofs/fixtures/knative-events.json, found none`);
  return found.request;
}

/** Headers that belong to the HTTP client and the connection, not to the event. */
const ofTransport = ['host', 'user-agent', 'content-length', 'accept-encoding'];

/** A request's headers with what differs each time (ids, times, hosts) made equal, for comparison. */
export function comparable(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).filter(([name]) => !ofTransport.includes(name));
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (name === 'ce-id') return [name, /^[0-9a-f-]{36}$/.test(value) ? 'a UUID' : value];
      if (name === 'ce-time' || name === 'ce-knativearrivaltime') {
        return [name, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) ? 'a time' : value];
      }
      return [name, name === 'ce-source' ? value.replace(/^https:\/\/.*/, 'a host') : value];
    }),
  );
}

/** The same of a request that was sent here. */
export const comparableRequest = (request: Request) => comparable(Object.fromEntries(request.headers));
