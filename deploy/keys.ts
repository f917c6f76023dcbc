import { randomBytes } from 'node:crypto';
import { publicationKeysRef } from '../shared/images/signature.ts';
import { Secret } from '../shared/kinds/core/secret.ts';
import type { ObjectReference } from '../shared/kinds/resource.ts';
import { partOf } from '../shared/operator.ts';
import type { Kube } from '../shared/runtime/kube.ts';
import { siteKeyRef } from '../shared/workspaces/site-key.ts';

const random = () => randomBytes(32).toString('base64');

/** Creates the Secret of publishers with a first key, unless it exists; resolves with whether it did. */
export const createPublicationKey = (kube: Kube) =>
  createOnce(kube, publicationKeysRef, { first: `whsec_${random()}` });

/** Creates the Secret that the keys of workspaces are derived from, unless it exists; resolves with whether it did. */
export const createSiteKey = (kube: Kube) => createOnce(kube, siteKeyRef, { key: random() });

async function createOnce(kube: Kube, ref: ObjectReference, entry: Readonly<Record<string, string>>): Promise<boolean> {
  if (await kube.get(Secret, ref)) return false;
  const labels = partOf;
  const data = Object.fromEntries(
    Object.entries(entry).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
  );
  await kube.create(Secret, { metadata: { ...ref, labels }, data });
  return true;
}
