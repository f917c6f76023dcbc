import { KubeConfig } from '@kubernetes/client-node';
import { type Kube, kubeClient } from '../../shared/runtime/kube.ts';
import type { ApiServer } from './api-server/api-server.ts';

/** A client of the local API server: of the ServiceAccount whose token it is given, else of the administrator. */
export function clientOf(server: Pick<ApiServer, 'kubeconfig'>, token?: string): Kube {
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig(token));
  return kubeClient(config);
}
