import type { KubernetesObject, Resource } from '../kinds/resource.ts';
import type { Kube, ListOptions } from './kube.ts';

/** All that match, for who holds them for a while. */
export async function listTrimmed<T extends KubernetesObject>(
  kube: Pick<Kube, 'pages'>,
  resource: Resource<T>,
  options?: ListOptions,
): Promise<T[]> {
  const found: T[] = [];
  for await (const { items } of kube.pages(resource, options)) found.push(...items.map(trimmed));
  return found;
}

/** Without managedFields, which are half of an object. */
export function trimmed<T extends KubernetesObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
