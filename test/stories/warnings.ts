import { Event } from '../../shared/kinds/core/event.ts';
import type { World } from './world.ts';

/** A Kubernetes Event as far as a story looks at it. */
export interface Warning {
  reason: string;
  message: string;
  involvedObject: { kind: string; name: string };
  source: { component: string };
}

export const warningsOf = async ({ kube }: World, namespace: string, reason: string) =>
  (await kube.list(Event, { namespace, fieldSelector: `type=Warning,reason=${reason}` })) as unknown as Warning[];

/** Resolves with the first Warning Event of that reason in the namespace, as soon as there is one. */
export async function untilWarning(world: World, namespace: string, reason: string): Promise<Warning> {
  const over = AbortSignal.timeout(15_000);
  const options = { namespace, fieldSelector: `type=Warning,reason=${reason}` };
  while (!over.aborted) {
    const [page] = await Array.fromAsync(world.kube.pages(Event, options));
    let found = page?.items[0] as unknown as Warning | undefined;
    const seen = new AbortController();
    if (!found) {
      const signal = AbortSignal.any([over, seen.signal]);
      await world.kube.watch(Event, { ...options, resourceVersion: page?.resourceVersion ?? '', signal }, (change) => {
        found = change.object as unknown as Warning;
        seen.abort();
      });
    }
    if (found) return found;
  }
  throw new Error(`expected a Warning Event ${reason} in namespace ${namespace} within 15 s, found none`);
}
