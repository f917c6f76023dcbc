import { KubeConfig } from '@kubernetes/client-node';
import type { Cluster } from '../../../deploy/cli/install/cluster.ts';
import { clusterOf } from '../../../deploy/cli/install/connect.ts';
import { type AnyObject, Deployment } from '../../../deploy/cli/install/kinds.ts';
import { startLocal } from '../../../deploy/local/start.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';

/** A local cluster without an installation, in which Deployments become available. */
export interface TestCluster extends Cluster {
  /** The printed lines. */
  lines: string[];
  /** The text of its kubeconfig. */
  kubeconfig: string;
  close(): Promise<void>;
}

/** Starts a cluster for a test; its functions run in this process, whatever their Deployments say. */
export async function startTestCluster(): Promise<TestCluster> {
  const { kube, server, close } = await startLocal({ schedules: { sweep: '* * * * * *' }, gracePeriodMs: 0 });
  const abort = new AbortController();
  const [page] = await Array.fromAsync(kube.pages(Deployment));
  const resourceVersion = page?.resourceVersion ?? '';
  const bringsUp = kube.watch(Deployment, { resourceVersion, signal: abort.signal }, ({ type, object }) => {
    if (type !== 'DELETED') void bringUp(kube, object);
  });
  const lines: string[] = [];
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig());
  return {
    ...clusterOf(config, { say: (line) => void lines.push(line), timeoutMs: 10_000 }),
    lines,
    kubeconfig: server.kubeconfig(),
    close: async () => {
      abort.abort();
      await bringsUp;
      await close();
    },
  };
}

/** Sets the status of a Deployment as its controller would once the pods are ready. */
async function bringUp(kube: Kube, { metadata }: AnyObject): Promise<void> {
  const conditions = [{ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: '' }];
  const replicas = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
  const status = { observedGeneration: metadata.generation, ...replicas, conditions };
  await kube.patch(Deployment, metadata, { status }, { subresource: 'status' }).catch(() => undefined);
}
