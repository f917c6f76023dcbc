import type { Clock } from '../clock.ts';
import type { Address } from './address.ts';
import { type Event, eventRequest, isEventMessage, readEvent, withAttributes } from './event.ts';
import { isSuccess, type Outcome, type RetryPolicy, sendWithRetries } from './retries.ts';

/** One subscriber of a Broker with all that delivery to it needs. */
export interface Subscription {
  subscriber: Address;
  /** Where replies go: the Broker itself. */
  reply: Address;
  deadLetterSink?: Address | undefined;
  policy: RetryPolicy;
  namespace: string;
}

/** How a delivery ended, and what happened on the way. */
export type DeliveryResult = 'delivered' | 'replied' | 'retried' | 'failed' | 'deadLettered' | 'dropped';

interface DeliveryContext {
  clock: Clock;
  signal: AbortSignal;
  count(result: DeliveryResult): void;
  /** Headers of the incoming request that Knative hands on. */
  headers: Readonly<Record<string, string>>;
}

/** How many replies deep an event may be; each reply carries one less. */
export const timeToLive = 'knativebrokerttl';

/**
 * Sends an event to a subscriber, its reply to the Broker, and what was not accepted to the dead letter sink; true if
 * one of them took it. The event carries its time to live, which the subscriber never sees.
 */
export async function deliver(event: Event, to: Subscription, context: DeliveryContext): Promise<boolean> {
  const headers = { ...context.headers, 'kn-namespace': to.namespace };
  const sending = { ...context, onRetry: () => context.count('retried') };
  const post = (address: Address, what: Event, more: Readonly<Record<string, string>> = {}) =>
    sendWithRetries(
      (signal) => address.send(new Request(eventRequest(address.url, what, { ...headers, ...more }), { signal })),
      to.policy,
      sending,
    );

  const seen = withAttributes(event, { [timeToLive]: undefined });
  const outcome = await post(filtered(to.subscriber), seen, { prefer: 'reply' });
  if (!isSuccess(outcome)) return giveUp(await errorOf(outcome, to.subscriber.url));
  const reply = await replyIn(outcome.response, event.attributes[timeToLive]);
  if (!reply) return done('delivered');
  const answer = await post(to.reply, reply);
  if (isSuccess(answer)) return done('replied');
  return giveUp(await errorOf(answer, to.reply.url));

  function done(result: DeliveryResult) {
    context.count(result);
    return true;
  }
  async function giveUp(error: Readonly<Record<string, string>>) {
    // Knative sends the event itself here, also if the reply was not accepted.
    const sink = isTooLong(error) ? undefined : to.deadLetterSink;
    const letter = sink && (await post(sink, withAttributes(event, error)));
    const taken = letter !== undefined && isSuccess(letter);
    context.count(taken ? 'deadLettered' : 'failed');
    return taken;
  }
}

/** Knative's broker-filter: who cannot be reached counts as 500; a 2xx with a body that is no CloudEvent is a failure that says nothing of itself. */
function filtered(address: Address): Address {
  return {
    url: address.url,
    send: async (request) => {
      const response = await address.send(request).catch((error: unknown) => unreached(request, error));
      if (!response.ok) return response;
      if (isEventMessage(response)) await readEvent(response.clone());
      else if ((await response.clone().arrayBuffer()).byteLength > 0)
        throw new Error('expected a CloudEvent or no body');
      return response;
    },
  };
}

function unreached({ signal, url }: Request, error: unknown): Response {
  if (signal.aborted) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  return new Response(`dispatch error: Post "${url}": ${reason}`, { status: 500 });
}

async function replyIn(response: Response, ttl: string | undefined): Promise<Event | undefined> {
  if (!isEventMessage(response)) return undefined;
  return withAttributes(await readEvent(response), { [timeToLive]: ttl });
}

/** The knativeerror extensions; Knative sets none after a timeout, nor where a body was no CloudEvent. */
async function errorOf(outcome: Outcome, destination: string): Promise<Record<string, string>> {
  if (!('response' in outcome)) return {};
  const data = Buffer.from(await outcome.response.arrayBuffer()).toString('base64');
  return { knativeerrorcode: String(outcome.response.status), knativeerrordest: destination, knativeerrordata: data };
}

const errorDataLimit = 1024;

/** The real dispatcher crashes on what is longer, and takes all it holds with it; here only this event is lost. */
const isTooLong = ({ knativeerrordata = '' }: Readonly<Record<string, string>>) =>
  knativeerrordata.length > errorDataLimit;
