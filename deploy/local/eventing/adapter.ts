import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Address } from './address.ts';
import { type Event, eventRequest } from './event.ts';
import { adapterPolicy, sendWithRetries } from './retries.ts';

/** What the adapters of all sources need to send. */
export interface Sending {
  clock: Clock;
  signal: AbortSignal;
  sink: Address;
  /** The source's own namespace. */
  namespace: string;
  /** Called with an event that no retry could deliver: it is lost. */
  lost(event: Event, reason: string): void;
}

/** The event with what its sender adds: id, time, version and the source's own extensions. */
export function newEvent(
  attributes: Readonly<Record<string, string>>,
  content: { contentType?: string | undefined; data: Uint8Array<ArrayBuffer> },
  nowMs: number,
  extensions: Readonly<Record<string, string>> = {},
): Event {
  const added = { id: randomUUID(), specversion: '1.0', time: new Date(nowMs).toISOString() };
  return { attributes: { ...attributes, ...extensions, ...added }, ...content };
}

/** Posts an event to the sink as Knative's adapters do; what cannot be delivered is lost, never thrown. */
export async function send(event: Event, { clock, signal, sink, namespace, lost }: Sending): Promise<void> {
  const outcome = await sendWithRetries(
    (aborted) =>
      sink.send(new Request(eventRequest(sink.url, event, { 'kn-namespace': namespace }), { signal: aborted })),
    adapterPolicy,
    { clock, signal },
  );
  if ('error' in outcome) lost(event, outcome.error.message);
  else if (!outcome.response.ok) lost(event, `${sink.url} answered ${outcome.response.status}`);
}
