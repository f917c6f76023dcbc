import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { KeyPair } from '../object-store/sigv4.ts';

/** The Secret that lets images of a namespace read an object store, as CDI wants it. */
export const secretManifest = ({
  namespace,
  secretName,
  keys,
}: {
  namespace: string;
  secretName: string;
  keys: KeyPair;
}): KubernetesObject =>
  ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName, namespace },
    type: 'Opaque',
    stringData: { accessKeyId: keys.accessKeyId, secretKey: keys.secretKey },
  }) as unknown as KubernetesObject;
