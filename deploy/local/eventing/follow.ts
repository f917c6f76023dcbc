import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { follow as followWith } from '../../../shared/runtime/follow.ts';
import type { Watching } from '../../../shared/runtime/reflect.ts';
import type { Clock } from '../clock.ts';
import { reflectingBy } from './reflect.ts';

/** Follows a kind as `shared/runtime/follow.ts` does, by the clock of the local cluster. */
export const follow = <T extends KubernetesObject>(
  kube: Watching,
  resource: Resource<T>,
  context: { clock: Clock; signal: AbortSignal },
  objects: Map<string, T>,
  onChange: () => void,
): Promise<void> => followWith(kube, resource, {}, reflectingBy(context), objects, onChange);
