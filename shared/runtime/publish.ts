import { readFile } from 'node:fs/promises';
import { CloudEvent, HTTP } from 'cloudevents';
import { schemaIdOf } from '../events.ts';
import type { ObjectReference } from '../kinds/resource.ts';
import { mapConcurrently } from './concurrency.ts';

export interface DomainEvent {
  type: string;
  id: string;
  subject: string;
  data: unknown;
  /** Extension attributes; `traceparent` is the trace of what it reports. */
  attributes?: Readonly<Record<string, string>>;
}

export type About = ObjectReference & { uid: string };

/** Publishes what happened as CloudEvents. A consumer that is down never blocks an image. */
export interface EventPublisher {
  /** Resolves when the event was accepted or given up. An event without `about` concerns an object that no longer exists. */
  publish(event: DomainEvent, about: About | undefined): Promise<void> | void;
  /** Publishes again, under the same ids, what no Broker has acknowledged, unless its object no longer exists. */
  republish(exists: (about: About) => Promise<boolean>): Promise<void> | void;
}

/** How often an event that was not acknowledged is published again. */
const repeats = 2;
const keptAtMost = 2000;
/** The limit of events that are posted at once. */
export const postsAtOnce = 32;

/** What could not be published, and how often it is still tried. */
interface Unacknowledged {
  event: DomainEvent;
  about: About | undefined;
  left: number;
}

/**
 * Posts domain events to the Broker that `sink` names, if there is one, as the ServiceAccount whose token is in `tokenFile`, if that is
 * named. What is kept for the repeats dies with the process: the objects stay the truth.
 */
export function publisher(
  sink: () => string | undefined,
  source: string,
  send: typeof fetch = fetch,
  tokenFile: () => string | undefined = () => undefined,
): EventPublisher {
  let kept: Unacknowledged[] = [];
  const keep = (one: Unacknowledged) => {
    if (one.left > 0) kept = [...kept, one].slice(-keptAtMost);
  };
  /** True if it was acknowledged, or if nothing listens. */
  const post = async ({ attributes, ...event }: DomainEvent): Promise<boolean> => {
    const to = sink();
    if (to === undefined) return true;
    const { headers, body } = HTTP.binary(
      new CloudEvent({
        ...event,
        ...attributes,
        source,
        datacontenttype: 'application/json',
        dataschema: schemaIdOf(event.type),
      }),
    );
    try {
      const file = tokenFile();
      const response = await send(to, {
        method: 'POST',
        headers: { ...(headers as Record<string, string>), ...(file ? await authorizationFrom(file) : {}) },
        body: body as string,
        signal: AbortSignal.timeout(5000),
      });
      if (response.ok) return true;
      notTaken(event.type, `answered ${response.status}`);
    } catch (error) {
      // A Broker that has gone meanwhile, at the end of everything, is nothing to complain of.
      if (sink() === undefined) return true;
      notTaken(event.type, error instanceof Error ? error.message : String(error));
    }
    return false;
  };
  const again = async ({ event, about, left }: Unacknowledged, exists: (about: About) => Promise<boolean>) => {
    // Without an answer about the object nothing is published now.
    const isWanted = about === undefined ? true : await exists(about).catch(() => undefined);
    if (isWanted === false || (isWanted && (await post(event)))) return;
    keep({ event, about, left: left - 1 });
  };
  return {
    async publish(event, about) {
      if (!(await post(event))) keep({ event, about, left: repeats });
    },
    async republish(exists) {
      const all = kept;
      kept = [];
      await mapConcurrently(all, postsAtOnce, (one) => again(one, exists));
    },
  };
}

/** The header that a Broker with OIDC asks for, read again each time because the kubelet renews the token; absent without a file. */
export async function authorizationFrom(tokenFile: string | undefined): Promise<{ authorization?: string }> {
  if (tokenFile === undefined) return {};
  return { authorization: `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}` };
}

const notTaken = (type: string, what: string) =>
  console.error(JSON.stringify({ level: 'warn', message: `domain event ${type} was not taken: ${what}` }));
