import { Event } from '../../shared/kinds/core/event.ts';
import type { World } from './world.ts';

/** A Kubernetes Event as far as a story looks at it. */
export interface Told {
  type: string;
  reason: string;
  message: string;
}

export const eventsAbout = async ({ kube, namespace }: World, name: string, reason: string) =>
  (await kube.list(Event, { namespace, fieldSelector: selectorOf(name, reason) })) as unknown as Told[];

/** Resolves with the first Event of that reason about the object of that name, as soon as there is one. */
export async function untilEventAbout(world: World, name: string, reason: string): Promise<Told> {
  const { kube, namespace } = world;
  const over = AbortSignal.timeout(50_000);
  const options = { namespace, fieldSelector: selectorOf(name, reason) };
  while (!over.aborted) {
    const [page] = await Array.fromAsync(kube.pages(Event, options));
    let found = page?.items[0] as unknown as Told | undefined;
    if (found) return found;
    const seen = new AbortController();
    const signal = AbortSignal.any([over, seen.signal]);
    await kube.watch(Event, { ...options, resourceVersion: page?.resourceVersion ?? '', signal }, ({ object }) => {
      found = object as unknown as Told;
      seen.abort();
    });
    if (found) return found;
  }
  throw new Error(`expected an Event ${reason} about ${name} within 50 s, found none`);
}

const selectorOf = (name: string, reason: string) => `involvedObject.name=${name},reason=${reason}`;
