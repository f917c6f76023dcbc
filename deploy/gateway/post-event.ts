import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CloudEvent, HTTP } from 'cloudevents';
import { isPublicationKey, publicationKeyForm, signatureAttributes } from '../../shared/images/signature.ts';
import { authorizationFrom } from '../../shared/runtime/publish.ts';
import type { PipelineEvent } from './read-event.ts';

interface BrokerAddress {
  url: string;
  /** Where the kubelet keeps a token for this Broker; none where the Broker asks for none. */
  tokenFile: string | undefined;
  /** Where the kubelet keeps the keys of publishers, a file each; the last by name signs. */
  keysFolder: string;
}

/** Who the sender was found to be, for CloudEvents' extension "Auth Context". */
export interface Sender {
  subject: string;
}

const timeoutMs = 10_000;

/**
 * Posts the event to the Broker as the gateway's own ServiceAccount, binary, signed, with none of the sender's extensions: Triggers
 * match on them. Throws where the Broker does not take it.
 */
export async function postEvent(address: BrokerAddress, event: PipelineEvent, sender: Sender) {
  const { url, tokenFile, keysFolder } = address;
  const { atMs, time, subject, traceparent, ...rest } = event;
  const key = await newestKeyIn(keysFolder);
  const { headers, body } = HTTP.binary(
    new CloudEvent({
      ...rest,
      ...(time === undefined ? {} : { time }),
      ...(subject === undefined ? {} : { subject }),
      ...(traceparent === undefined ? {} : { traceparent }),
      authtype: 'service_account',
      authid: sender.subject,
      ...signatureAttributes(key, event),
      datacontenttype: 'application/json',
    }),
  );
  const status = await send(url, tokenFile, headers as Record<string, string>, body as string);
  if (status >= 300) throw new Error(`it answered ${status}`);
}

/** Read again each time: keys are added and taken out while it runs. */
async function newestKeyIn(folder: string): Promise<string> {
  // Kubernetes' own entries begin with "..".
  const names = (await readdir(folder)).filter((name) => !name.startsWith('..')).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const key = texts.map((text) => text.trim()).findLast(isPublicationKey);
  if (key === undefined) throw new Error(`expected a key in ${folder} (${publicationKeyForm}), found none`);
  return key;
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
