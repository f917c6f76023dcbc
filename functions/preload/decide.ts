import type { Action } from '../../shared/actions.ts';
import type { ImagePublished } from '../../shared/events.ts';
import type { Message } from '../../shared/function.ts';
import { namespaceFor, publicationFault, publishedAt, publishedImage } from '../../shared/images/published-image.ts';
import type { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { formatRefusal, type Refusals, refusalKey } from '../../shared/kubernetes/refusal.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { type Policy, policyName } from '../../shared/policy.ts';

export interface Observed {
  policy: Policy;
  policyMap: ConfigMap | undefined;
  image: VMDiskImage | undefined;
  message: Message;
  published: ImagePublished;
  refusals: Refusals;
}

/** Applies the image's spec under the name `preload`, never by force: what an admin set stays the admin's. */
export function decide(observed: Observed): Action[] {
  const { image, published, refusals, message, policy } = observed;
  const ref = { namespace: namespaceFor(published, policy), name: published.name };
  const refusal = refusals.get(refusalKey(VMDiskImage, ref));
  if (refusal) return complain(observed, 'PublishedImageRefused', formatRefusal(refusal));
  const fault = publicationFault(published, policy);
  if (fault) return complain(observed, 'PublishedImageNotMade', fault);
  if (image?.metadata.deletionTimestamp)
    return complain(observed, 'PublishedImageNotMade', 'the image of that name is being deleted');
  const taken = image?.metadata.annotations?.[publishedAt];
  if (taken && message.time && Date.parse(message.time) < Date.parse(taken)) return [];
  return [{ do: 'apply', resource: VMDiskImage, object: publishedImage(published, policy, message) }];
}

/** Reported where a user will look: on the image if it exists, else on the policy. */
function complain({ image, policyMap, published, message }: Observed, reason: string, why: string): Action[] {
  const text = `Event ${message.id} of ${message.source} for image ${published.name}: ${why}.`;
  const about = image ??
    policyMap ?? {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: policyName, namespace: operatorNamespace, uid: '', resourceVersion: '' },
    };
  return [recordEvent(about, true, reason, text, message.id)];
}
