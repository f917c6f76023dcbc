import type { Secret } from '../kinds/core/secret.ts';
import { operatorNamespace } from '../operator.ts';

/** The Secret whose entry `key` the keys of all workspaces are derived from. Its name is fixed: compose-workspace may read no other one there. */
export const siteKeyRef = { namespace: operatorNamespace, name: 'workspace-key' };

export const siteKeyForm = 'an entry key of at least 32 bytes';

/** The command that creates it. */
export const makeSiteKey = `kubectl create secret generic ${siteKeyRef.name} -n ${siteKeyRef.namespace} --from-literal=key=$(openssl rand -base64 32)`;

/** The site's key; undefined if it is missing, or shorter than 32 bytes. */
export function siteKeyIn(secret: Secret | undefined): Buffer | undefined {
  const key = Buffer.from(secret?.data?.key ?? '', 'base64');
  return key.length < 32 ? undefined : key;
}
