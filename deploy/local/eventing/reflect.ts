import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import type { ListOptions, WatchEvent } from '../../../shared/runtime/kube.ts';
import { type Reflecting, reflect as reflectWith, type Watching } from '../../../shared/runtime/reflect.ts';
import { type Clock, delay } from '../clock.ts';

/** Pauses by that clock. */
export const reflectingBy = ({ clock, signal }: { clock: Clock; signal: AbortSignal }): Reflecting => ({
  pause: (milliseconds, until) => delay(clock, milliseconds, until).catch(() => undefined),
  signal,
});

/** Reflects a kind as `shared/runtime/reflect.ts` does, by the clock of the local cluster. */
export const reflect = <T extends KubernetesObject>(
  kube: Watching,
  resource: Resource<T>,
  options: ListOptions,
  context: { clock: Clock; signal: AbortSignal },
  handlers: { replaced?(items: readonly T[]): void; changed(event: WatchEvent<T>): void },
): Promise<void> => reflectWith(kube, resource, options, reflectingBy(context), handlers);
