import { HttpMethod, type KubeConfig } from '@kubernetes/client-node';
import { kubeClient, requestTimeoutMs } from '../../../shared/runtime/kube.ts';
import { transport } from '../../../shared/runtime/transport.ts';
import { type Cluster, InstallError } from './cluster.ts';

/** The cluster of a kubeconfig. */
export const clusterOf = (config: KubeConfig, more: Pick<Cluster, 'say' | 'timeoutMs'>): Cluster => ({
  kube: kubeClient(config),
  read: (path) => read(config, path),
  ...more,
});

async function read(config: KubeConfig, path: string): Promise<unknown> {
  if (!config.getCurrentCluster()?.server)
    throw new InstallError('expected a kubeconfig with a current context, found none; set KUBECONFIG');
  const { status, text = '' } = await transport(config, requestTimeoutMs)({ method: HttpMethod.GET, path });
  if (status === 404) return undefined;
  if (status >= 300) {
    throw new InstallError(`expected an answer to GET ${path}, found ${status}: ${text.slice(0, 500)}`);
  }
  return JSON.parse(text);
}
