import type { ImagePublished } from '../../shared/events.ts';
import type { Message } from '../../shared/function.ts';
import type { ConfigMap } from '../../shared/resources/core/config-map.ts';
import {
  diskImageFinalizer,
  publishedContent,
  type VMDiskImage,
  VMDiskImage as VMDiskImageKind,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { record } from '../../shared/rules/image-status.ts';
import { digestOf, isLabelValue } from '../../shared/rules/names.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { isValid, type Policy, policyName } from '../../shared/rules/policy.ts';
import { refusalKey } from '../../shared/rules/refusal-key.ts';

/** When the newest publication that was taken happened; an older one that comes late changes nothing. */
const publishedAt = 'pelotech.ot/published-at';

export interface Observed {
  policy: Policy;
  policyMap: ConfigMap | undefined;
  image: VMDiskImage | undefined;
  message: Message;
  published: ImagePublished;
  refusals: ReadonlyMap<string, string>;
}

/** Applies the image's spec under the name `preload`, never by force: what an admin set stays the admin's. */
export function decide(observed: Observed): Action[] {
  const { image, published, refusals, message, policy } = observed;
  const ref = { namespace: namespaceFor(published, policy), name: published.name };
  const refusal = refusals.get(refusalKey(VMDiskImageKind, ref));
  if (refusal !== undefined) return complain(observed, 'PublishedImageRefused', refusal);
  const fault = faultOf(observed);
  if (fault) return complain(observed, 'PublishedImageNotMade', fault);
  if (image?.metadata.deletionTimestamp)
    return complain(observed, 'PublishedImageNotMade', 'the image of that name is being deleted');
  const taken = image?.metadata.annotations?.[publishedAt];
  if (taken && message.time && Date.parse(message.time) < Date.parse(taken)) return [];
  return [{ do: 'apply', resource: VMDiskImageKind, object: wanted(observed) }];
}

/** Where a published image belongs: the namespace it names, or the policy's first. */
export const namespaceFor = ({ namespace }: ImagePublished, policy: Policy) =>
  namespace ?? policy.values.imageNamespaces[0] ?? operatorNamespace;

function wanted({ policy, published, message }: Observed) {
  const { values } = policy;
  const { name, version, sourceType, diskSize, checksum, digest } = published;
  return {
    metadata: {
      name,
      namespace: namespaceFor(published, policy),
      finalizers: [diskImageFinalizer],
      annotations: {
        [publishedContent]: digest ?? digestOf([message.source, message.id]),
        ...(message.time ? { [publishedAt]: message.time } : {}),
      },
      labels: {
        'app.kubernetes.io/created-by': 'preload',
        ...(isLabelValue(version) ? { 'app.kubernetes.io/version': version } : {}),
      },
    },
    spec: {
      name,
      url: urlOf(published, policy),
      sourceType: sourceType ?? 's3',
      storageClass: values.imageStorageClass,
      snapshotClass: values.imageSnapshotClass,
      diskSize: diskSize ?? values.imageDiskSize,
      // Only S3 gets the policy's Secret: elsewhere it would be sent to whoever owns the url.
      ...(values.imageSecretRef && (sourceType ?? 's3') === 's3' ? { secretRef: values.imageSecretRef } : {}),
      ...(checksum ? { checksum } : {}),
    },
  };
}

const urlOf = ({ url, name, version = '' }: ImagePublished, { values }: Policy) =>
  url ?? values.imageUrlTemplate?.replaceAll('{name}', name).replaceAll('{version}', version);

/** What the policy or the event lacks for an image to be made. */
function faultOf({ policy, published }: Observed): string | undefined {
  const { values } = policy;
  const keys = [
    'imageNamespaces',
    'imageStorageClass',
    'imageSnapshotClass',
    'imageSecretRef',
    'imageDiskSize',
    'imageUrlTemplate',
  ] as const;
  const broken = keys.find((key) => !isValid(policy, key));
  if (broken) return `expected the policy's ${broken} to parse`;
  const namespace = namespaceFor(published, policy);
  if (!values.imageNamespaces.includes(namespace)) {
    return `expected a namespace of the policy's imageNamespaces (${values.imageNamespaces.join(', ')}), found ${namespace}`;
  }
  const lacks = (['imageStorageClass', 'imageSnapshotClass'] as const).find((key) => values[key] === undefined);
  if (lacks) return `expected the policy to name ${lacks}, found none`;
  if (!published.diskSize && !values.imageDiskSize)
    return 'expected diskSize in the event or imageDiskSize in the policy, found neither';
  if (!published.url && !values.imageUrlTemplate)
    return 'expected url in the event or imageUrlTemplate in the policy, found neither';
  if (!published.url && values.imageUrlTemplate?.includes('{version}') && !published.version) {
    return "expected version in the event (the policy's imageUrlTemplate asks for it), found none";
  }
  return undefined;
}

/** Said where somebody will look: at the image if it is there, else at the policy. */
function complain({ image, policyMap, published, message }: Observed, reason: string, why: string): Action[] {
  const text = `Event ${message.id} of ${message.source} for image ${published.name}: ${why}.`;
  if (image) return [record(image, true, reason, text, message.id)];
  const about = policyMap ?? {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: policyName, namespace: operatorNamespace, uid: '', resourceVersion: '' },
  };
  return [{ do: 'record', about, type: 'Warning', reason, message: text, once: message.id }];
}
