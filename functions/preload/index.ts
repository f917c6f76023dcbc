import { ImagePublished, imagePublished } from '../../shared/events.ts';
import { type Context, defineFunction, on, type Wake } from '../../shared/function.ts';
import { ConfigMap } from '../../shared/resources/core/config-map.ts';
import { VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { parsePolicy, policyName } from '../../shared/rules/policy.ts';
import { decide, namespaceFor, type Observed } from './decide.ts';

/** Makes or renews the VMDiskImage of an image that a pipeline published. */
export default defineFunction<Observed>({
  name: 'preload',
  on: [on.event(imagePublished, ImagePublished)],
  may: [
    { resource: VMDiskImage, verbs: ['get', 'create', 'patch'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
  ],
  scale: 'zero',
  observe,
  decide,
});

async function observe({ kube, refusals }: Context, wake: Wake): Promise<Observed[]> {
  const policyMap = await kube.get(ConfigMap, { namespace: operatorNamespace, name: policyName });
  const policy = parsePolicy(policyMap);
  return Promise.all(
    wake.messages.map(async (message) => {
      const published = message.data as ImagePublished;
      const namespace = namespaceFor(published, policy);
      const image = await kube.get(VMDiskImage, { namespace, name: published.name });
      return { policy, policyMap, image, message, published, refusals };
    }),
  );
}
