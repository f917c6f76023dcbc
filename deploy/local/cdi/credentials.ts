import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { Secret } from '../controller/kinds.ts';
import type { KeyPair } from '../object-store/sigv4.ts';

/** The key pair in a Secret, or the kubelet's message if it is missing. */
export async function credentialsIn(kube: Kube, ref: ObjectReference): Promise<KeyPair | string> {
  const secret = await kube.get(Secret, ref);
  if (!secret) return `secret "${ref.name}" not found`;
  const missing = ['accessKeyId', 'secretKey'].find((key) => secret.data?.[key] === undefined);
  if (missing) return `couldn't find key ${missing} in Secret ${ref.namespace}/${ref.name}`;
  const text = (key: string) => Buffer.from(secret.data?.[key] ?? '', 'base64').toString();
  return { accessKeyId: text('accessKeyId'), secretKey: text('secretKey') };
}
