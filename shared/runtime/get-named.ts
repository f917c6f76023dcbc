import type { KubernetesObject, ObjectReference, Resource } from '../kinds/resource.ts';
import type { Kube } from './kube.ts';

/**
 * Those of the objects that exist. Where the names are known, this is faster than a list: before the API server answers a list, its watch
 * cache has to catch up with etcd, which may take 100 ms (apiserver, pkg/storage/cacher/progress/watch_progress.go).
 */
export async function getNamed<T extends KubernetesObject>(
  kube: Pick<Kube, 'get'>,
  resource: Resource<T>,
  refs: readonly ObjectReference[],
): Promise<T[]> {
  const found = await Promise.all(refs.map((ref) => kube.get(resource, ref)));
  return found.filter((one) => one !== undefined);
}
