import { publicationKeysRef, signatureAttributes } from '../../../shared/images/signature.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';

export const publicationKey = `whsec_${Buffer.from('only for the tests of publications').toString('base64')}`;

/** Makes a cluster take what is signed with that key, beside the keys that it has. */
export async function trustPublicationKey(kube: Kube): Promise<void> {
  const data = { tests: Buffer.from(publicationKey).toString('base64') };
  if (await kube.get(Secret, publicationKeysRef)) await kube.patch(Secret, publicationKeysRef, { data });
  else await kube.create(Secret, { metadata: publicationKeysRef, data });
}

let lastMs = 0;

/** Now, or the second after the last time: an image is published once a second. */
export function nextSecond(): number {
  lastMs = Math.max(Math.floor(Date.now() / 1000) * 1000, lastMs + 1000);
  return lastMs;
}

/** The attributes of a publication that a publisher signs. */
export const signed = (
  data: unknown,
  { id = '1', atMs = nextSecond(), key = publicationKey }: { id?: string; atMs?: number; key?: string } = {},
) => ({ id, ...signatureAttributes(key, { id, data, atMs }) });
