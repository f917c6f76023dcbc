import type { ImagePublished } from '../events.ts';
import { createdBy, diskImageFinalizer, publishedContent } from '../kinds/pelotech/vm-disk-image.ts';
import { digestOf, isLabelValue } from '../kubernetes/names.ts';
import { operatorNamespace } from '../operator.ts';
import { isValid, type Policy } from '../policy.ts';
import { missingLine } from './sources.ts';

/** The time of the newest accepted publication; a late event about an older one changes nothing. */
export const publishedAt = 'pelotech.ot/published-at';

/** Where a published image belongs: the namespace it names, or the policy's first. */
export const namespaceFor = ({ namespace }: ImagePublished, policy: Policy) =>
  namespace ?? policy.values.imageNamespaces[0] ?? operatorNamespace;

/** The image that a publication asks for, to be applied under the field manager `preload`. */
export function publishedImage(
  published: ImagePublished,
  policy: Policy,
  { id, source, time }: { id: string; source: string; time?: string | undefined },
) {
  const { values } = policy;
  const { name, version, sourceType, diskSize, checksum, digest } = published;
  return {
    metadata: {
      name,
      namespace: namespaceFor(published, policy),
      finalizers: [diskImageFinalizer],
      annotations: {
        [publishedContent]: digest ?? digestOf([source, id]),
        ...(time ? { [publishedAt]: time } : {}),
      },
      labels: {
        [createdBy]: 'preload',
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
      ...secretFor(published, policy),
      ...(checksum ? { checksum } : {}),
    },
  };
}

/** Only S3 gets the policy's Secret: otherwise it would be sent to the owner of the url. */
const secretFor = ({ sourceType = 's3' }: ImagePublished, { values }: Policy) =>
  values.imageSecretRef && sourceType === 's3' ? { secretRef: values.imageSecretRef } : {};

const urlOf = ({ url, name, version = '' }: ImagePublished, { values }: Policy) =>
  url ?? values.imageUrlTemplate?.replaceAll('{name}', name).replaceAll('{version}', version);

/** What the policy or the publication lacks for an image to be made. */
export function publicationFault(published: ImagePublished, policy: Policy): string | undefined {
  const { values } = policy;
  const keys = [
    'imageNamespaces',
    'imageStorageClass',
    'imageSnapshotClass',
    'imageSecretRef',
    'imageDiskSize',
    'imageUrlTemplate',
    'allowedSources',
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
  const spec = { url: urlOf(published, policy) ?? '', ...secretFor(published, policy) };
  return missingLine(policy, { namespace, spec, isAskedFor: true })?.message;
}
