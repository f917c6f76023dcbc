import type { Action } from '../../shared/actions.ts';
import type { ImagePublished } from '../../shared/events.ts';
import type { Message } from '../../shared/function.ts';
import { namespaceFor, publicationFault, publishedAt, publishedImage } from '../../shared/images/published-image.ts';
import { aheadAtMostMs } from '../../shared/images/signature.ts';
import { isFromTemplate } from '../../shared/images/sources.ts';
import type { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { publishedContent, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { formatRefusal, type Refusals, refusalKey } from '../../shared/kubernetes/refusal.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { type Policy, policyName } from '../../shared/policy.ts';
import type { Reason } from '../../shared/reasons/reason.ts';
import { rowOf } from '../../shared/reasons/table.ts';
import { sentence } from '../../shared/sentence.ts';
import type { Stranger } from './authenticate.ts';

export interface Observed {
  policy: Policy;
  policyMap: ConfigMap | undefined;
  image: VMDiskImage | undefined;
  message: Message;
  stranger?: Stranger | undefined;
  nowMs: number;
  published: ImagePublished;
  refusals: Refusals;
}

/** Applies the image's spec under the name `preload`, by force only where a template made the image: what an admin set stays the admin's. */
export function decide(observed: Observed): Action[] {
  const { image, published, refusals, message, policy, nowMs, stranger } = observed;
  // Once for all: anyone can send any number of them.
  if (stranger) return complain(observed, 'PublisherNotAuthenticated', stranger.message, stranger.kind);
  const ref = { namespace: namespaceFor(published, policy), name: published.name };
  const refusal = refusals.get(refusalKey(VMDiskImage, ref));
  if (refusal) {
    const help = refusal.reason === 'Conflict' ? ` ${rowOf('PublishedImageRefused', 'VMDiskImage')?.help}` : '';
    return complain(observed, 'PublishedImageRefused', `${sentence(formatRefusal(refusal))}${help}`);
  }
  const fault = publicationFault(published, policy);
  if (fault) return complain(observed, 'PublishedImageNotMade', fault);
  if (image?.metadata.deletionTimestamp)
    return complain(observed, 'PublishedImageNotMade', 'the image of that name is being deleted');
  if (message.time && Date.parse(message.time) > nowMs + aheadAtMostMs)
    return complain(observed, 'PublishedImageNotMade', `its time ${message.time} is in the future`);
  const object = publishedImage(published, policy, message);
  const { [publishedAt]: taken, [publishedContent]: content } = image?.metadata.annotations ?? {};
  if (taken && message.time && Date.parse(message.time) <= Date.parse(taken)) {
    const isRepeated = taken === message.time && content === object.metadata.annotations[publishedContent];
    const why = `its time ${message.time} is not after ${taken}, when the image was last published`;
    return isRepeated ? [] : complain(observed, 'PublishedImageNotMade', why);
  }
  // A publisher takes over what a template made, and nothing else.
  return [{ do: 'apply', resource: VMDiskImage, object, force: image !== undefined && isFromTemplate(image) }];
}

/** Reported where a user will look: on the image if it exists, else on the policy. */
function complain(
  { image, policyMap, published, message }: Observed,
  reason: Reason,
  why: string,
  once = message.id,
): Action[] {
  const text = `Event ${message.id} of ${message.source} for image ${published.name}: ${sentence(why)}`;
  const about = image ??
    policyMap ?? {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: policyName, namespace: operatorNamespace, uid: '', resourceVersion: '' },
    };
  return [recordEvent(about, true, reason, text, once)];
}
