import { labelSelector } from '../../shared/kubernetes/selectors.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { type Cluster, InstallError } from './cluster.ts';
import { type AnyObject, formatObject, KnativeService, Pod, resourceOf, Service } from './kinds.ts';
import { partOf } from './manifests.ts';
import { deleteAndWait, listOf, waitFor } from './wait.ts';

/** Deletes objects and waits until each is gone. */
export async function removeAll(cluster: Cluster, objects: readonly AnyObject[]): Promise<void> {
  await Promise.all(
    objects.map(async (object) => {
      if (await deleteAndWait(cluster, resourceOf(object), object.metadata))
        return cluster.say(`${formatObject(object)} removed`);
      const held = (await cluster.kube.get(resourceOf(object), object.metadata))?.metadata.finalizers ?? [];
      throw new InstallError(
        `expected ${formatObject(object)} to be gone within ${cluster.timeoutMs / 1000} s, found it held by ${held.join(', ') || 'nobody'}; whoever set that has to take it off`,
      );
    }),
  );
}

/** The same for functions: until no pod of theirs is left that could still write, and no Service stands in another's way. */
export async function removeFunctions(cluster: Cluster, objects: readonly AnyObject[]): Promise<void> {
  await removeAll(cluster, objects);
  const names = new Set(objects.map(({ metadata }) => metadata.name));
  const pods = await listOf(cluster.kube, Pod, { namespace: operatorNamespace, labelSelector: labelSelector(partOf) });
  const theirs = pods.filter(({ metadata }) => names.has(metadata.labels?.['app.kubernetes.io/name'] ?? ''));
  const leftByServing = objects.filter(({ apiVersion }) => apiVersion === KnativeService.apiVersion);
  await Promise.all([
    ...theirs.map(({ metadata }) => waitFor(cluster, Pod, metadata, (pod) => pod?.metadata.uid !== metadata.uid)),
    ...leftByServing.map(({ metadata }) => waitFor(cluster, Service, metadata, (service) => service === undefined)),
  ]);
}
