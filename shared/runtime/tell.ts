import { CloudEvent, HTTP } from 'cloudevents';

export interface DomainEvent {
  type: string;
  id: string;
  subject: string;
  data: unknown;
  /** The trace of what it tells of, by CloudEvents' distributed tracing extension. */
  traceparent?: string;
}

/** Tells others what happened; a listener that is away or broken never holds up an image. */
export interface Teller {
  tell(event: DomainEvent): void;
  /** Tells once more, under the same ids, what was told since the last two calls: a consumer drops the repeats. */
  retell(): void;
}

/** How often each event is told again. */
const repeats = 2;
const keptAtMost = 2000;

/**
 * Posts domain events to the Broker that `sink` names, if there is one. What is kept for the repeats dies with the process: the objects
 * stay the truth.
 */
export function teller(sink: () => string | undefined, source: string, send: typeof fetch = fetch): Teller {
  let told: { event: DomainEvent; left: number }[] = [];
  const post = (event: DomainEvent) => {
    const to = sink();
    if (to === undefined) return;
    const { headers, body } = HTTP.binary(new CloudEvent({ ...event, source, datacontenttype: 'application/json' }));
    const request = { method: 'POST', headers: headers as Record<string, string>, body: body as string };
    // A Broker that has gone meanwhile, at the end of everything, is nothing to complain of.
    const complain = (what: string) => sink() !== undefined && notTaken(event.type, what);
    void send(to, { ...request, signal: AbortSignal.timeout(5000) }).then(
      (response) => response.ok || complain(`answered ${response.status}`),
      (error: unknown) => complain(error instanceof Error ? error.message : String(error)),
    );
  };
  return {
    tell(event) {
      post(event);
      told = [...told, { event, left: repeats }].slice(-keptAtMost);
    },
    retell() {
      for (const { event } of told) post(event);
      told = told.map(({ event, left }) => ({ event, left: left - 1 })).filter(({ left }) => left > 0);
    },
  };
}

const notTaken = (type: string, what: string) =>
  console.error(JSON.stringify({ level: 'warn', message: `domain event ${type} was not taken: ${what}` }));
