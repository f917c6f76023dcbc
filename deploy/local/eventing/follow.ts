import type { KubernetesObject, Resource } from '../../../shared/resources/resource.ts';
import type { Clock } from '../clock.ts';
import { reflect, type Watching } from './reflect.ts';

/** namespace/name of an object. */
export const keyOf = ({ metadata }: { metadata: { namespace?: string | undefined; name: string } }) =>
  `${metadata.namespace ?? ''}/${metadata.name}`;

/** Keeps `objects` equal to what the API server has of a kind; resolves once the first list is in. */
export function follow<T extends KubernetesObject>(
  kube: Watching,
  resource: Resource<T>,
  context: { clock: Clock; signal: AbortSignal },
  objects: Map<string, T>,
  onChange: () => void,
): Promise<void> {
  return reflect(kube, resource, {}, context, {
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
