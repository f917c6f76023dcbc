import { randomBytes } from 'node:crypto';
import { publicationKeysRef } from '../shared/images/signature.ts';
import { Secret } from '../shared/kinds/core/secret.ts';
import type { Kube } from '../shared/runtime/kube.ts';

/** Creates the Secret of publishers with a first key, unless it exists; resolves with whether it did. */
export async function createPublicationKey(kube: Kube): Promise<boolean> {
  if (await kube.get(Secret, publicationKeysRef)) return false;
  const key = `whsec_${randomBytes(32).toString('base64')}`;
  const labels = { 'app.kubernetes.io/part-of': 'ot-functions' };
  const data = { first: Buffer.from(key).toString('base64') };
  await kube.create(Secret, { metadata: { ...publicationKeysRef, labels }, data });
  return true;
}
