import { ansibleCredentials, Secret } from '../../../shared/kinds/core/secret.ts';
import type { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import type { Policy } from '../../../shared/policy.ts';
import { metadataOf } from './metadata.ts';

/** The site's Secret in the operator's namespace. Its name is fixed: the function may read no other Secret there. */
export const siteCredentials = 'workspace-ansible';

/** The Secret in the workspace's namespace that the Jobs mount: a copy of the site's. */
export const credentialsName = ansibleCredentials;

/** Where a Job has it. */
export const credentialsFolder = '/runner/credentials';

/** Its files: the keys that Kubernetes gives Secrets of the types ssh-auth and basic-auth. */
export const credentialFiles = {
  key: `${credentialsFolder}/ssh-privatekey`,
  password: `${credentialsFolder}/password`,
};

/** The copy; undefined where the policy asks for none, or the site has none, in which case Jobs wait for it. */
export const credentialsFor = (workspace: Workspace, { values }: Policy, found: Secret | undefined) =>
  found === undefined || !values.ansibleCredentials
    ? undefined
    : {
        apiVersion: Secret.apiVersion,
        kind: Secret.kind,
        metadata: metadataOf(workspace, credentialsName),
        type: 'Opaque',
        data: Object.fromEntries(
          Object.entries(found.data ?? {}).filter(([key]) => key === 'ssh-privatekey' || key === 'password'),
        ),
      };
