import { HttpMethod, IsomorphicFetchHttpLibrary, type KubeConfig, RequestContext } from '@kubernetes/client-node';
import { kubeClient } from '../../../shared/runtime/kube.ts';
import { type Cluster, InstallError } from './cluster.ts';

/** The cluster of a kubeconfig. */
export const clusterOf = (config: KubeConfig, more: Pick<Cluster, 'say' | 'timeoutMs'>): Cluster => ({
  kube: kubeClient(config),
  read: (path) => read(config, path),
  ...more,
});

async function read(config: KubeConfig, path: string): Promise<unknown> {
  const server = config.getCurrentCluster()?.server;
  if (!server) throw new InstallError('expected a kubeconfig with a current context, found none; set KUBECONFIG');
  const context = new RequestContext(server + path, HttpMethod.GET);
  context.setHeaderParam('accept', 'application/json');
  await config.applySecurityAuthentication(context);
  const response = await new IsomorphicFetchHttpLibrary().send(context).toPromise();
  const text = await response.body.text();
  if (response.httpStatusCode === 404) return undefined;
  if (response.httpStatusCode >= 300) {
    throw new InstallError(
      `expected an answer to GET ${path}, found ${response.httpStatusCode}: ${text.slice(0, 500)}`,
    );
  }
  return JSON.parse(text);
}
