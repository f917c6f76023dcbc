import { distinct } from '../../shared/distinct.ts';
import type { ImagePublished } from '../../shared/events.ts';
import type { Batch, Context, Message } from '../../shared/function.ts';
import { namespaceFor } from '../../shared/images/published-image.ts';
import { publicationKeysRef } from '../../shared/images/signature.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { readPolicyMap } from '../../shared/runtime/read-policy.ts';
import { authenticate, type Stranger } from './authenticate.ts';
import type { Observed } from './decide.ts';

export async function gather(context: Context, { messages }: Batch): Promise<Observed[]> {
  const { kube, nowMs } = context;
  const [policyMap, keys] = await Promise.all([readPolicyMap(kube), kube.get(Secret, publicationKeysRef)]);
  const policy = parsePolicy(policyMap);
  const received = messages.map((message) => authenticate(message, { policy, keys, nowMs }));
  return imagesOf(context, { policyMap, policy, received });
}

/** The same for a process that has verified the publishers itself. */
export async function gatherVerified(context: Context, { messages }: Batch): Promise<Observed[]> {
  const policyMap = await readPolicyMap(context.kube);
  const received = messages.map((message) => ({ message }));
  return imagesOf(context, { policyMap, policy: parsePolicy(policyMap), received });
}

interface Received {
  message: Message;
  stranger?: Stranger;
}

async function imagesOf(
  { kube, nowMs, refusals }: Context,
  { policyMap, policy, received }: Pick<Observed, 'policyMap' | 'policy'> & { received: readonly Received[] },
): Promise<Observed[]> {
  const [publishers, strangers] = [received.filter((one) => !one.stranger), received.filter((one) => one.stranger)];
  return Promise.all(
    [...newestOfEach(publishers), ...strangers.slice(0, strangersAtMost)].map(async ({ message, stranger }) => {
      const published = message.data as ImagePublished;
      const namespace = namespaceFor(published, policy);
      // No image elsewhere is made or reported at, so that no one can write Events into any namespace.
      const image = policy.values.imageNamespaces.includes(namespace)
        ? await kube.get(VMDiskImage, { namespace, name: published.name })
        : undefined;
      return { nowMs, policy, policyMap, image, message, stranger, published, refusals };
    }),
  );
}

/** The limit of publications by strangers that a reconcile reports; nothing else is done about them. */
const strangersAtMost = 10;

/** Of several publications of one image that share a reconcile the newest counts, as it does where they come one by one. */
function newestOfEach(received: readonly Received[]): Received[] {
  const byTime = [...received].sort((a, b) => Date.parse(a.message.time ?? '') - Date.parse(b.message.time ?? '') || 0);
  return distinct(byTime, ({ message: { data } }) => keyOf(data as ImagePublished));
}
