import { randomUUID } from 'node:crypto';
import { ImagePublished, imagePublished } from '../../shared/events.ts';
import { publicationFault, publishedImage } from '../../shared/images/published-image.ts';
import {
  isPublicationKey,
  publicationKeyForm,
  publicationKeysIn,
  publicationKeysRef,
  signatureAttributes,
} from '../../shared/images/signature.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import { isValid, type Policy } from '../../shared/policy.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { oneLine } from '../../shared/sentence.ts';
import { UsageError } from '../terminal/arguments.ts';
import { type Body, type Call, exit, type Outcome, Refused, Unreachable } from './command.ts';
import { namespaceOptions } from './help.ts';
import { makePublicationKey } from './secrets.ts';

/** Creates an image and downloads it before a machine needs it, as a pipeline would. */
export const preload: Body = {
  words: 'NAME',
  options: {
    namespace: {
      ...namespaceOptions.namespace,
      about: "in this one of the policy's imageNamespaces, by default the first",
    },
    version: { type: 'string', value: 'V', about: "replaces {version} in the policy's imageUrlTemplate" },
    url: { type: 'string', value: 'URL', about: 'where the image is, in place of imageUrlTemplate' },
    digest: { type: 'string', value: 'D', about: 'identifies the contents: the same digest starts no second download' },
    'source-type': {
      type: 'string',
      value: 'TYPE',
      about: 's3 (default), http or registry',
      values: ['s3', 'http', 'registry'],
    },
    'disk-size': { type: 'string', value: 'SIZE', about: "such as 24Gi, in place of the policy's imageDiskSize" },
    checksum: { type: 'string', value: 'SUM', about: 'ALGORITHM:HEX, with --source-type http' },
    broker: { type: 'string', value: 'URL', about: 'post the event to this Broker; needs no kubeconfig' },
    sign: {
      type: 'boolean',
      about: 'sign the event, with the key in OT_SIGNING_KEY or else the newest in the cluster',
    },
  },
  details: [
    'Without --broker the command creates the image at the API server as the function preload would, and refuses what the',
    'function would refuse. With --broker it only posts the event; the result is the image, or a Warning Event. Unless the',
    'policy accepts unsigned publications, the event needs --sign. Secret and classes come from the policy.',
  ],
  examples: [
    'preload debian-12 --version 12.5',
    'preload debian-12 --url http://127.0.0.1:19000/images/debian-12.qcow2 --digest sha256:0123',
    'preload debian-12 --version 12.5 --broker http://127.0.0.1:18080/sync-operator/default --sign',
  ],
  run: (call) => {
    const published = publicationOf(call);
    const broker = call.text('broker');
    if (broker !== undefined) return post(call, published, broker);
    if (call.is('sign')) throw new UsageError('--sign: expected --broker, since only an event is signed');
    return make(call, published);
  },
};

/** The publication for a command line; throws a UsageError if the function would reject it. */
export function publicationOf({ words, text, namespace }: Pick<Call, 'words' | 'text' | 'namespace'>): ImagePublished {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0)
    throw new UsageError(`expected the name of one image, found ${words.join(' ') || 'nothing'}`);
  const said: Readonly<Record<string, string | undefined>> = {
    name,
    namespace,
    ...Object.fromEntries(Object.entries(options).map(([field, option]) => [field, text(option)])),
  };
  const parsed = ImagePublished.safeParse(
    Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)),
  );
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0] ?? '');
  const typed = field in options ? `--${options[field]}` : field === 'name' ? 'NAME' : field;
  throw new UsageError(`${typed}: ${issue?.message}; found ${JSON.stringify(said[field])}`);
}

/** The options that say what is published, by their fields in the event. */
const options: Readonly<Record<string, string>> = {
  version: 'version',
  url: 'url',
  sourceType: 'source-type',
  diskSize: 'disk-size',
  checksum: 'checksum',
  digest: 'digest',
};

const source = 'ot-functions';

async function make({ cluster, nowMs }: Call, published: ImagePublished): Promise<Outcome> {
  const { kube } = await cluster();
  const policy = await readPolicy(kube);
  const refusal = refusalOf(published, policy);
  if (refusal)
    throw new Refused(
      `${refusal}; the policy is changed by: ot-functions policy set KEY VALUE, which replaces all lines of KEY`,
    );
  const time = new Date(nowMs).toISOString();
  const image = publishedImage(published, policy, { id: randomUUID(), source, time });
  await applied(kube, image);
  const { namespace, name } = image.metadata;
  return {
    lines: [`VMDiskImage ${namespace}/${name} is asked for. Wait for it: ot-functions wait image/${namespace}/${name}`],
    json: { image: { namespace, name } },
    code: exit.done,
  };
}

/** Why the function would not create the image. A value that an option would set is reported as that option, before the policy. */
export function refusalOf(published: ImagePublished, policy: Policy): string | undefined {
  const fault = publicationFault(published, policy);
  const { imageUrlTemplate, imageDiskSize } = policy.values;
  if (!fault || !isValid(policy, 'imageUrlTemplate', 'imageDiskSize')) return fault;
  if (!published.url && !imageUrlTemplate)
    return 'expected --url URL, or imageUrlTemplate in the policy, found neither';
  if (!published.url && imageUrlTemplate?.includes('{version}') && !published.version)
    return `expected --version V, which the policy's imageUrlTemplate asks for, or --url URL, found neither`;
  if (!published.diskSize && !imageDiskSize)
    return 'expected --disk-size SIZE, or imageDiskSize in the policy, found neither';
  return fault;
}

/** With the field manager of the function, so that a later publication by a pipeline owns the same fields; never by force. */
async function applied(kube: Kube, image: ReturnType<typeof publishedImage>): Promise<void> {
  const before = await kube.get(VMDiskImage, image.metadata);
  if (before?.metadata.deletionTimestamp)
    throw new Refused('expected no image of that name that is being deleted, found one; wait until it is deleted');
  try {
    await kube.apply(VMDiskImage, image, { fieldManager: 'preload' });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 401 || error.status === 403) throw error;
    throw new Refused(`expected the API server to accept the image, found: ${error.message}`);
  }
}

/** The key from the environment, where a pipeline has its secrets, or else the newest in the cluster. */
async function signingKey({ cluster }: Call): Promise<string> {
  const given = process.env.OT_SIGNING_KEY?.trim();
  if (given && !isPublicationKey(given)) throw new UsageError(`OT_SIGNING_KEY: expected ${publicationKeyForm}`);
  const key = given || publicationKeysIn(await (await cluster()).kube.get(Secret, publicationKeysRef)).at(-1);
  if (key) return key;
  throw new Refused(
    `expected a key in Secret ${keyOf(publicationKeysRef)} or in OT_SIGNING_KEY, found none; make one: ${makePublicationKey}`,
  );
}

async function post(call: Call, published: ImagePublished, broker: string): Promise<Outcome> {
  const id = randomUUID();
  const { nowMs } = call;
  const attributes = {
    specversion: '1.0',
    id,
    source,
    type: imagePublished,
    time: new Date(nowMs).toISOString(),
    ...(call.is('sign') ? signatureAttributes(await signingKey(call), { id, data: published, atMs: nowMs }) : {}),
  };
  const response = await answerOf(
    broker,
    {
      'content-type': 'application/json',
      ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value])),
    },
    JSON.stringify(published),
  );
  if (!response.ok) {
    const text = oneLine(await response.text()).slice(0, 200);
    throw new Refused(
      `expected the Broker to accept the event (202), found ${response.status}${text ? `: ${text}` : ''}`,
    );
  }
  return {
    lines: [
      `The Broker accepted event ${id}. The image follows, or a Warning Event with the reason: kubectl get events -A --field-selector type=Warning`,
    ],
    json: { event: id, status: response.status },
    code: exit.done,
  };
}

async function answerOf(broker: string, headers: Record<string, string>, body: string): Promise<Response> {
  if (!URL.canParse(broker) || !/^https?:$/.test(new URL(broker).protocol))
    throw new UsageError(
      `--broker: expected a URL such as http://127.0.0.1:18080/sync-operator/default, found ${JSON.stringify(broker)}`,
    );
  try {
    return await fetch(broker, { method: 'POST', headers, body, signal: AbortSignal.timeout(30_000) });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new Unreachable(
      `expected an answer from the Broker at ${new URL(broker).origin}, found none: ${cause instanceof Error ? cause.message : message}`,
    );
  }
}
