import { readFile } from 'node:fs/promises';

/** A request as Knative sent it, recorded from its binaries. */
interface Recorded {
  headers: Record<string, string>;
  body: unknown;
  rawBody: string;
}

const folder = new URL('../../../test/proofs/fixtures/knative-events/', import.meta.url);

/** Reads a recorded request by its file's name without ending. */
export async function recorded(name: string): Promise<Recorded> {
  const file = JSON.parse(await readFile(new URL(`${name}.json`, folder), 'utf8')) as { request: Recorded };
  return file.request;
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
