import { stringify } from 'yaml';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { policyRef } from '../../../shared/policy.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { credentialsName } from '../../../shared/runtime/openstack/clouds.ts';
import { readCloudsYaml } from '../../../shared/runtime/openstack/clouds-yaml.ts';

/** Who logs in, and where. */
export interface Login {
  authUrl: string;
  userName: string;
  password: string;
  projectName: string;
}

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

/** The lines of the policy's openstackEndpoints for Keystone and all services that it names. */
async function endpointsOf(login: Login): Promise<string> {
  const { identity, scope, authUrl } = readCloudsYaml(cloudsYaml(login));
  const body = JSON.stringify({ auth: { identity, scope } });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${authUrl}/auth/tokens`, { method: 'POST', headers, body });
  const { token } = (await answer.json()) as { token: { catalog: { endpoints: { url: string }[] }[] } };
  const urls = [authUrl, ...token.catalog.flatMap(({ endpoints }) => endpoints.map(({ url }) => url))];
  return [...new Set(urls.map((url) => `${new URL(url).origin}/**`))].join('\n');
}

/** The Secret that gives all namespaces an OpenStack, each a project of its own. */
export const accountManifest = (login: Login) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: credentialsName, namespace: operatorNamespace },
  data: { 'clouds.yaml': Buffer.from(cloudsYaml(login)).toString('base64') },
});

/** Gives all namespaces that OpenStack: the Secret, and the lines of the policy that let functions send requests there. */
export async function giveAccount(kube: Pick<Kube, 'create' | 'patch'>, login: Login): Promise<void> {
  await kube.patch(ConfigMap, policyRef, { data: { openstackEndpoints: await endpointsOf(login) } });
  await kube.create(Secret, accountManifest(login));
}
