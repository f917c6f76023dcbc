import { readFile } from 'node:fs/promises';
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
  /** Resolves when the event was accepted or given up. */
  tell(event: DomainEvent): Promise<void> | void;
  /** Tells once more, under the same ids, what was told since the last two calls: a consumer drops the repeats. */
  retell(): void;
}

/** How often each event is told again. */
const repeats = 2;
const keptAtMost = 2000;

/**
 * Posts domain events to the Broker that `sink` names, if there is one, as the ServiceAccount whose token is in `tokenFile`, if that is
 * named. What is kept for the repeats dies with the process: the objects stay the truth.
 */
export function teller(
  sink: () => string | undefined,
  source: string,
  send: typeof fetch = fetch,
  tokenFile: () => string | undefined = () => undefined,
): Teller {
  let told: { event: DomainEvent; left: number }[] = [];
  const post = async (event: DomainEvent) => {
    const to = sink();
    if (to === undefined) return;
    const { headers, body } = HTTP.binary(new CloudEvent({ ...event, source, datacontenttype: 'application/json' }));
    // A Broker that has gone meanwhile, at the end of everything, is nothing to complain of.
    const complain = (what: string) => sink() !== undefined && notTaken(event.type, what);
    try {
      const file = tokenFile();
      const response = await send(to, {
        method: 'POST',
        headers: { ...(headers as Record<string, string>), ...(file ? await authorizationFrom(file) : {}) },
        body: body as string,
        signal: AbortSignal.timeout(5000),
      });
      if (!response.ok) complain(`answered ${response.status}`);
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error));
    }
  };
  return {
    tell(event) {
      told = [...told, { event, left: repeats }].slice(-keptAtMost);
      return post(event);
    },
    retell() {
      for (const { event } of told) void post(event);
      told = told.map(({ event, left }) => ({ event, left: left - 1 })).filter(({ left }) => left > 0);
    },
  };
}

/** The header that a Broker with OIDC asks for, read anew each time because the kubelet renews the token; none without a file. */
export async function authorizationFrom(tokenFile: string | undefined): Promise<{ authorization?: string }> {
  if (tokenFile === undefined) return {};
  return { authorization: `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}` };
}

const notTaken = (type: string, what: string) =>
  console.error(JSON.stringify({ level: 'warn', message: `domain event ${type} was not taken: ${what}` }));
