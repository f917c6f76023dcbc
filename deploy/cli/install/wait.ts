import { setTimeout } from 'node:timers/promises';
import type { KubernetesObject, ObjectReference, Resource } from '../../../shared/kinds/resource.ts';
import { hasStatus } from '../../../shared/runtime/errors.ts';
import { ifServed } from '../../../shared/runtime/if-served.ts';
import { isLost } from '../../../shared/runtime/reflect.ts';
import type { Cluster } from './cluster.ts';

/**
 * Resolves with the object as soon as `isSo` holds, also for its absence; `isLate` says that the time is up, so that the caller can say
 * what it waited for. `stop` ends the wait like a timeout.
 */
export async function waitFor<T extends KubernetesObject>(
  { kube, timeoutMs }: Pick<Cluster, 'kube' | 'timeoutMs'>,
  resource: Resource<T>,
  ref: ObjectReference,
  isSo: (object: T | undefined) => boolean,
  stop?: AbortSignal,
): Promise<{ isLate: boolean; object: T | undefined }> {
  const over = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(stop ? [stop] : [])]);
  const only = {
    ...(ref.namespace ? { namespace: ref.namespace } : {}),
    fieldSelector: `metadata.name=${ref.name}`,
  };
  for (;;) {
    const [page] = await pagesOf(kube, resource, only);
    let object = page?.items[0];
    // A kind that is no longer served has no objects.
    if (isSo(object) || !page) return { isLate: !isSo(object), object };
    const again = new AbortController();
    const signal = AbortSignal.any([over, again.signal]);
    await kube
      .watch(resource, { ...only, resourceVersion: page.resourceVersion, signal }, ({ type, object: found }) => {
        object = type === 'DELETED' ? undefined : found;
        if (isSo(object)) again.abort();
      })
      .catch((error: unknown) => rewatchUnlessOver(error, over));
    if (isSo(object)) return { isLate: false, object };
    if (over.aborted) return { isLate: true, object };
  }
}

/** The pause before another request to a server that ended a watch. */
const pauseMs = 1000;

/** A watch that ended, or whose resourceVersion expired, loses nothing: a list returns the rest. Throws any other error. */
async function rewatchUnlessOver(error: unknown, over: AbortSignal): Promise<void> {
  if (isLost(error) && !hasStatus(error, 410)) throw error;
  await setTimeout(pauseMs, undefined, { signal: over }).catch(() => undefined);
}

type Kube = Cluster['kube'];

/** The object; undefined also if the kind is not served. */
export const getOf = <T extends KubernetesObject>(kube: Kube, resource: Resource<T>, ref: ObjectReference) =>
  ifServed(kube.get(resource, ref));

/** Empty if the kind is not served. */
const pagesOf = async <T extends KubernetesObject>(kube: Kube, resource: Resource<T>, only: object) =>
  (await ifServed(Array.fromAsync(kube.pages(resource, only)))) ?? [];

/** Waits until no object is left for which `isAwaited` holds; resolves with those that are left when the time is up. */
export async function leftOf<T extends KubernetesObject>(
  { kube, timeoutMs }: Pick<Cluster, 'kube' | 'timeoutMs'>,
  resource: Resource<T>,
  isAwaited: (object: T) => boolean,
  options: { labelSelector?: string } = {},
): Promise<T[]> {
  const over = AbortSignal.timeout(timeoutMs);
  for (;;) {
    const pages = await pagesOf(kube, resource, options);
    const awaited = pages.flatMap(({ items }) => items).filter(isAwaited);
    const left = new Map(awaited.map((object) => [object.metadata.uid, object]));
    if (left.size === 0 || over.aborted) return [...left.values()];
    const again = new AbortController();
    const signal = AbortSignal.any([over, again.signal]);
    const resourceVersion = pages[0]?.resourceVersion ?? '';
    await kube
      .watch(resource, { ...options, resourceVersion, signal }, ({ type, object }) => {
        if (type === 'DELETED') left.delete(object.metadata.uid);
        if (left.size === 0) again.abort();
      })
      .catch((error: unknown) => rewatchUnlessOver(error, over));
  }
}

/** Deletes an object and waits until it is deleted; false if it still exists when the time is up. */
export async function deleteAndWait(
  cluster: Pick<Cluster, 'kube' | 'timeoutMs'>,
  resource: Resource,
  ref: ObjectReference,
): Promise<boolean> {
  await cluster.kube.delete(resource, ref);
  const { isLate } = await waitFor(cluster, resource, ref, (object) => object === undefined);
  return !isLate;
}

/** All objects of a kind that match; empty if the kind is not served. */
export const listOf = async <T extends KubernetesObject>(
  kube: Kube,
  resource: Resource<T>,
  options: { namespace?: string; labelSelector?: string } = {},
): Promise<T[]> => (await ifServed(kube.list(resource, options))) ?? [];
