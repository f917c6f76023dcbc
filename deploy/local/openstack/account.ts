import { stringify } from 'yaml';
import { operatorNamespace } from '../../../shared/operator.ts';
import { credentialsName } from '../../../shared/runtime/openstack/clouds.ts';

/** Who logs in, and where. */
export interface Login {
  authUrl: string;
  userName: string;
  password: string;
  projectName: string;
}

/** A clouds.yaml for that login. */
export const cloudsYaml = ({ authUrl, userName, password, projectName }: Login): string =>
  stringify({
    clouds: {
      openstack: {
        auth: {
          auth_url: authUrl,
          username: userName,
          password,
          project_name: projectName,
          user_domain_id: 'default',
          project_domain_id: 'default',
        },
        region_name: 'RegionOne',
      },
    },
  });

/** The Secret that gives all namespaces an OpenStack, each a project of its own. */
export const accountManifest = (login: Login) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: credentialsName, namespace: operatorNamespace },
  data: { 'clouds.yaml': Buffer.from(cloudsYaml(login)).toString('base64') },
});
