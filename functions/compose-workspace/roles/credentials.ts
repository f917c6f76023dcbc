import { ansibleCredentials, Secret } from '../../../shared/kinds/core/secret.ts';
import type { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import { linuxLoginOf } from '../../../shared/machines/linux-login.ts';
import type { Policy } from '../../../shared/policy.ts';
import { makeSiteKey, siteKeyForm, siteKeyIn, siteKeyRef } from '../../../shared/workspaces/site-key.ts';
import type { Site } from '../observed.ts';
import { type ComponentStatus, waiting } from '../stage.ts';
import { metadataOf } from './metadata.ts';
import { derivedKey } from './ssh-key.ts';

/** The Secret in the workspace's namespace that the Jobs mount. */
export const credentialsName = ansibleCredentials;

/** Where a Job has it. */
export const credentialsFolder = '/runner/credentials';

/** The name that Kubernetes gives a key in Secrets of the type ssh-auth. */
const keyEntry = 'ssh-privatekey';
export const keyFile = `${credentialsFolder}/${keyEntry}`;

/** The login of the machines that Ansible uses: where it has a key of ours, a user that cloud-init makes. */
export const loginFor = ({ values }: Policy): string | undefined =>
  values.ansibleCredentials ? linuxLoginOf(values.ansibleUser ?? 'ansible') : values.ansibleUser;

/** The key of the workspace; undefined while the site has none to derive it from. */
export function keyFor({ metadata }: Workspace, site: Site | undefined) {
  const key = siteKeyIn(site?.key);
  return key && derivedKey(key, 'ansible login', metadata.uid);
}

/** The Secret; undefined where the policy asks for none, or the site has no key, in which case Jobs wait for it. */
export function credentialsFor(workspace: Workspace, { values }: Policy, site: Site | undefined) {
  const key = values.ansibleCredentials ? keyFor(workspace, site) : undefined;
  return (
    key && {
      apiVersion: Secret.apiVersion,
      kind: Secret.kind,
      metadata: metadataOf(workspace, credentialsName),
      type: 'Opaque',
      data: { [keyEntry]: Buffer.from(key.privateKey).toString('base64') },
    }
  );
}

/** What waits for the site's key, and what to do. */
export const withoutSiteKey: ComponentStatus = waiting(
  'CredentialsMissing',
  `Expected Secret ${keyOf(siteKeyRef)} with ${siteKeyForm} (policy key ansibleCredentials), found no such key: ${makeSiteKey}`,
);
