import { CloudEvent, HTTP } from 'cloudevents';
import { authorizationFrom } from '../../shared/runtime/publish.ts';
import type { PipelineEvent } from './read-event.ts';
import { Refusal } from './refusal.ts';

interface BrokerAddress {
  url: string;
  /** Where the kubelet keeps a token for this Broker; none where the Broker asks for none. */
  tokenFile: string | undefined;
}

/** Who the sender was found to be, for CloudEvents' extension "Auth Context". */
export interface Sender {
  subject: string;
}

const timeoutMs = 10_000;

/**
 * Posts the event to the Broker as the gateway's own ServiceAccount, binary, with none of the sender's extensions: Triggers
 * match on them. Throws a Refusal, 503, where the Broker does not take it.
 */
export async function postEvent({ url, tokenFile }: BrokerAddress, event: PipelineEvent, sender: Sender) {
  const { time, subject, traceparent, ...rest } = event;
  const { headers, body } = HTTP.binary(
    new CloudEvent({
      ...rest,
      ...(time === undefined ? {} : { time }),
      ...(subject === undefined ? {} : { subject }),
      ...(traceparent === undefined ? {} : { traceparent }),
      authtype: 'service_account',
      authid: sender.subject,
      datacontenttype: 'application/json',
    }),
  );
  const status = await send(url, tokenFile, headers as Record<string, string>, body as string).catch((error: unknown) =>
    notTaken(error instanceof Error ? error.message : String(error)),
  );
  if (status >= 300) notTaken(`the Broker answered ${status}`);
}

async function send(url: string, tokenFile: string | undefined, headers: Record<string, string>, body: string) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, ...(await authorizationFrom(tokenFile)) },
    body,
    // A token is for the Broker, not for whom it might name.
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
  await response.body?.cancel();
  return response.status;
}

function notTaken(why: string): never {
  throw new Refusal(503, 'the Broker does not take events just now; try again', why);
}
