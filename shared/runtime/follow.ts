import { type KubernetesObject, keyOf, type Resource } from '../kinds/resource.ts';
import type { ListOptions } from './kube.ts';
import { trimmed } from './list-trimmed.ts';
import { type Reflecting, reflect, type Watching } from './reflect.ts';

/** Keeps `objects` equal to what the API server has of a kind, or to what `keep` makes of it; resolves once the first list is in. */
export function follow<T extends KubernetesObject>(
  kube: Watching,
  resource: Resource<T>,
  options: ListOptions,
  reflecting: Reflecting,
  objects: Map<string, T>,
  onChange: (resourceVersion: string) => void,
  keep: (object: T) => T = trimmed,
): Promise<void> {
  return reflect(kube, resource, options, reflecting, {
    keep,
    replaced: (items, resourceVersion) => {
      objects.clear();
      for (const item of items) objects.set(keyOf(item.metadata), item);
      onChange(resourceVersion);
    },
    changed: ({ type, object }) => {
      if (type === 'DELETED') objects.delete(keyOf(object.metadata));
      else objects.set(keyOf(object.metadata), keep(object));
      onChange(object.metadata.resourceVersion);
    },
  });
}
