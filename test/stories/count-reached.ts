import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import type { Kube } from '../../shared/runtime/kube.ts';

/** How many objects of a kind have come to a point at some time. */
export interface Count {
  /** Resolves when this many have. */
  until(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Counts the objects for which `isSo` held at least once from now on: one watch, however many there are. */
export async function countReached<T extends KubernetesObject>(
  kube: Kube,
  resource: Resource<T>,
  isSo: (object: T) => boolean,
): Promise<Count> {
  const abort = new AbortController();
  const reached = new Set<string>();
  let waiting: { count: number; resolve: () => void }[] = [];
  const [page] = await Array.fromAsync(kube.pages(resource));
  const options = { resourceVersion: page?.resourceVersion ?? '', signal: abort.signal };
  const done = kube.watch(resource, options, ({ type, object }) => {
    if (type !== 'DELETED' && isSo(object)) reached.add(object.metadata.uid);
    for (const { count, resolve } of waiting) if (reached.size >= count) resolve();
    waiting = waiting.filter(({ count }) => reached.size < count);
  });
  return {
    until: (count) =>
      new Promise((resolve) => {
        if (reached.size >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    stop: async () => {
      abort.abort();
      await done;
    },
  };
}
