import { Secret } from '../../shared/kinds/core/secret.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';

/** Of Secrets by namespace and name whether they are there; undefined where nobody may tell. */
export type SecretsThere = ReadonlyMap<string, boolean | undefined>;

/** Looks for Secrets, each once. Of a Secret it keeps whether it is there, and nothing else. */
export async function secretsAt(kube: Kube, refs: readonly ObjectReference[]): Promise<SecretsThere> {
  const different = new Map(refs.map((ref) => [keyOf(ref), ref]));
  const found = await Promise.all(
    [...different].map(async ([key, ref]): Promise<[string, boolean | undefined]> => {
      try {
        return [key, (await kube.get(Secret, ref)) !== undefined];
      } catch (error) {
        if (hasStatus(error, 403)) return [key, undefined];
        throw error;
      }
    }),
  );
  return new Map(found);
}

/** The Secret that an image is downloaded with: beside it, if it names one. */
export const secretOf = ({ metadata: { namespace }, spec: { secretRef } }: VMDiskImage): ObjectReference[] =>
  secretRef ? [{ ...(namespace ? { namespace } : {}), name: secretRef }] : [];

/** The same of an image that has no importer at work: only then it may wait for its Secret. */
export const awaitedSecretOf = (image: VMDiskImage): ObjectReference[] => {
  const { phase, importer } = image.status ?? {};
  return phase === 'Retrying' || (phase === 'Syncing' && !importer) ? secretOf(image) : [];
};

/** What makes a Secret that images are downloaded with. */
export const makeSecret = ({ namespace, name }: ObjectReference) =>
  `kubectl create secret generic ${name} -n ${namespace} --from-file=accessKeyId=FILE --from-file=secretKey=FILE`;
