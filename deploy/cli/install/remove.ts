import { labelSelector } from '../../../shared/kubernetes/selectors.ts';
import { operatorNamespace, partOf } from '../../../shared/operator.ts';
import { type Cluster, InstallError } from './cluster.ts';
import { type AnyObject, formatObject, KnativeService, Pod, resourceOf, Service } from './kinds.ts';
import { deleteAndWait, getOf, listOf, waitFor } from './wait.ts';

/** Deletes objects and waits until each is deleted. */
export async function removeAll(cluster: Cluster, objects: readonly AnyObject[]): Promise<void> {
  await Promise.all(
    objects.map(async (object) => {
      if (await deleteAndWait(cluster, resourceOf(object), object.metadata))
        return cluster.say(`${formatObject(object)} removed`);
      const held = (await getOf(cluster.kube, resourceOf(object), object.metadata))?.metadata.finalizers ?? [];
      throw new InstallError(
        `expected ${formatObject(object)} to be deleted within ${cluster.timeoutMs / 1000} s, found finalizers ${held.join(', ') || '(none)'}; the controllers that added them must remove them`,
      );
    }),
  );
}

/** Deletes functions and waits until none of their pods can still write, and no Service occupies the name of another one. */
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
