import type { ObjectReference } from '../../../shared/resources/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { Secret } from './kinds.ts';

export interface Credentials {
  accessKeyId: string;
  secretKey: string;
}

/** The key pair in a Secret; undefined while there is no such Secret. */
export async function credentialsIn(kube: Kube, ref: ObjectReference): Promise<Credentials | undefined> {
  const secret = await kube.get(Secret, ref);
  const text = (key: string) => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();
  return secret && { accessKeyId: text('accessKeyId'), secretKey: text('secretKey') };
}
