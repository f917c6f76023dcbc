import { Event } from '../../shared/kinds/core/event.ts';
import type { World } from './world.ts';

/** A Kubernetes Event as far as a story looks at it. */
export interface RecordedEvent {
  type: string;
  reason: string;
  message: string;
  involvedObject: { kind: string; name: string };
  source: { component: string };
}

type Where = Pick<World, 'kube' | 'namespace'>;

const eventsOf = async ({ kube, namespace }: Where, fieldSelector: string) =>
  (await kube.list(Event, { namespace, fieldSelector })) as unknown as RecordedEvent[];

/** Resolves with the first Event in the namespace that the selector matches, as soon as there is one. */
export async function untilEvent(
  { kube, namespace }: Where,
  fieldSelector: string,
  withinMs = 30_000,
): Promise<RecordedEvent> {
  const over = AbortSignal.timeout(withinMs);
  const options = { namespace, fieldSelector };
  while (!over.aborted) {
    const [page] = await Array.fromAsync(kube.pages(Event, options));
    let found = page?.items[0] as unknown as RecordedEvent | undefined;
    if (found) return found;
    const seen = new AbortController();
    const signal = AbortSignal.any([over, seen.signal]);
    await kube.watch(Event, { ...options, resourceVersion: page?.resourceVersion ?? '', signal }, ({ object }) => {
      found = object as unknown as RecordedEvent;
      seen.abort();
    });
    if (found) return found;
  }
  throw new Error(
    `expected an Event in namespace ${namespace} with ${fieldSelector} within ${withinMs / 1000} s, found none`,
  );
}

const selectorOf = (name: string, reason: string) => `involvedObject.name=${name},reason=${reason}`;

export const eventsAbout = (world: Where, name: string, reason: string) => eventsOf(world, selectorOf(name, reason));

export const untilEventAbout = (world: Where, name: string, reason: string) =>
  untilEvent(world, selectorOf(name, reason), 50_000);

export const warningsOf = ({ kube }: Pick<World, 'kube'>, namespace: string, reason: string) =>
  eventsOf({ kube, namespace }, `type=Warning,reason=${reason}`);

export const untilWarning = ({ kube }: Pick<World, 'kube'>, namespace: string, reason: string) =>
  untilEvent({ kube, namespace }, `type=Warning,reason=${reason}`, 15_000);
