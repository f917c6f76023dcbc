import type { KubernetesObject, Resource } from '../kinds/resource.ts';
import { hasStatus } from './errors.ts';
import type { Kube, ListOptions } from './kube.ts';

/** All that match, or undefined if the kind is not served: its operator is not installed. */
export async function listServed<T extends KubernetesObject>(
  kube: Pick<Kube, 'list'>,
  resource: Resource<T>,
  options?: ListOptions,
): Promise<T[] | undefined> {
  try {
    return await kube.list(resource, options);
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}
