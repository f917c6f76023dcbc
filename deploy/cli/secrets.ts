import { publicationKeysIn, publicationKeysRef } from '../../shared/images/signature.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { siteKeyIn, siteKeyRef } from '../../shared/workspaces/site-key.ts';

/** Whether Secrets exist, by namespace and name; undefined if the user may not read them. */
export type ExistingSecrets = ReadonlyMap<string, boolean | undefined>;

/** Reads each Secret once. Of a Secret it keeps only whether it exists. */
export async function secretsAt(kube: Kube, refs: readonly ObjectReference[]): Promise<ExistingSecrets> {
  const different = new Map(refs.map((ref) => [keyOf(ref), ref]));
  const found = await Promise.all(
    [...different].map(
      async ([key, ref]) => [key, await isTrueOf(kube, ref, (secret) => secret !== undefined)] as const,
    ),
  );
  return new Map(found);
}

/** Whether there is a key to verify publications with; undefined if the user may not read it. */
export const hasPublicationKey = (kube: Kube) =>
  isTrueOf(kube, publicationKeysRef, (secret) => publicationKeysIn(secret).length > 0);

/** Whether there is a key to derive those of workspaces from; undefined if the user may not read it. */
export const hasSiteKey = (kube: Kube) => isTrueOf(kube, siteKeyRef, (secret) => siteKeyIn(secret) !== undefined);

async function isTrueOf(kube: Kube, ref: ObjectReference, is: (secret: Secret | undefined) => boolean) {
  try {
    return is(await kube.get(Secret, ref));
  } catch (error) {
    if (hasStatus(error, 403)) return undefined;
    throw error;
  }
}

/** The Secret for the download of an image: in the same namespace, if the image names one. */
export const secretOf = ({ metadata: { namespace }, spec: { secretRef } }: VMDiskImage): ObjectReference[] =>
  secretRef ? [{ ...(namespace ? { namespace } : {}), name: secretRef }] : [];

/** The Secret of an image that has no running importer: only then the image may be waiting for the Secret. */
export const awaitedSecretOf = (image: VMDiskImage): ObjectReference[] => {
  const { phase, importer } = image.status ?? {};
  return phase === 'Retrying' || (phase === 'Syncing' && !importer) ? secretOf(image) : [];
};

/** The OpenStack credentials of a namespace. */
export const credentialsIn = (namespace: string) => ({ namespace, name: credentialsName });

export const makePublicationKey = `kubectl create secret generic ${publicationKeysRef.name} -n ${publicationKeysRef.namespace} --from-literal=first=whsec_$(openssl rand -base64 32)`;
