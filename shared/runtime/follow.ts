import type { KubernetesObject, Resource } from '../kinds/resource.ts';
import type { ListOptions } from './kube.ts';
import { type Reflecting, reflect, type Watching } from './reflect.ts';

/** namespace/name of an object. */
export const keyOf = ({ metadata }: { metadata: { namespace?: string | undefined; name: string } }) =>
  `${metadata.namespace ?? ''}/${metadata.name}`;

/** Keeps `objects` equal to what the API server has of a kind; resolves once the first list is in. */
export function follow<T extends KubernetesObject>(
  kube: Watching,
  resource: Resource<T>,
  options: ListOptions,
  reflecting: Reflecting,
  objects: Map<string, T>,
  onChange: () => void,
): Promise<void> {
  return reflect(kube, resource, options, reflecting, {
    replaced: (items) => {
      objects.clear();
      for (const item of items) objects.set(keyOf(item), item);
      onChange();
    },
    changed: ({ type, object }) => {
      if (type === 'DELETED') objects.delete(keyOf(object));
      else objects.set(keyOf(object), object);
      onChange();
    },
  });
}
