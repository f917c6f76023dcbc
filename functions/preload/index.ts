import { distinct } from '../../shared/distinct.ts';
import { ImagePublished, imagePublished } from '../../shared/events.ts';
import { type Batch, type Context, defineFunction, type Message, on } from '../../shared/function.ts';
import { namespaceFor } from '../../shared/images/published-image.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { parsePolicy, policyRef } from '../../shared/policy.ts';
import { decide, type Observed } from './decide.ts';

/** Makes or renews the VMDiskImage of an image that a pipeline published. */
export default defineFunction<Observed>({
  name: 'preload',
  system: 'images',
  on: [on.event(imagePublished, ImagePublished)],
  may: [
    { resource: VMDiskImage, verbs: ['get', 'create', 'patch'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'zero',
  observe,
  decide,
});

async function observe({ kube, nowMs, refusals }: Context, batch: Batch): Promise<Observed[]> {
  const policyMap = await kube.get(ConfigMap, policyRef);
  const policy = parsePolicy(policyMap);
  return Promise.all(
    newestOfEach(batch.messages).map(async (message) => {
      const published = message.data as ImagePublished;
      const namespace = namespaceFor(published, policy);
      const image = await kube.get(VMDiskImage, { namespace, name: published.name });
      return { nowMs, policy, policyMap, image, message, published, refusals };
    }),
  );
}

/** Of several publications of one image that share a reconcile the newest counts, as it does where they come one by one. */
function newestOfEach(messages: readonly Message[]): Message[] {
  const byTime = [...messages].sort((a, b) => Date.parse(a.time ?? '') - Date.parse(b.time ?? '') || 0);
  const keyOf = ({ data }: Message) => `${(data as ImagePublished).namespace ?? ''}/${(data as ImagePublished).name}`;
  return distinct(byTime, keyOf);
}
