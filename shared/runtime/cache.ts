import { compareVersions, type KubernetesObject, type ObjectReference, type Resource } from '../kinds/resource.ts';
import { follow } from './follow.ts';
import type { Kube } from './kube.ts';
import { logError } from './log.ts';
import { longerPause, pauseMs, type Reflecting, type Watching } from './reflect.ts';

/** How long a reconcile waits for its cache, in milliseconds. */
const patienceMs = 1000;

/**
 * What a function that always runs reads through a cache, because it would read it at each event, and a list of it would grow with the number
 * of objects.
 */
export interface CachedKind {
  resource: Resource;
  /** The only namespace of the cache; all if absent. */
  namespace?: string;
  /** Selects the objects of the cache; all if absent. */
  fieldSelector?: string;
  /** The same as code; all if absent. */
  includes?(object: KubernetesObject): boolean;
  /** What is kept of each object; all but managedFields if absent. */
  keep?(object: KubernetesObject): KubernetesObject;
}

export const cachedObject = (resource: Resource, { namespace, name }: ObjectReference): CachedKind => ({
  resource,
  ...(namespace ? { namespace } : {}),
  fieldSelector: `metadata.name=${name}`,
  includes: ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
});

/** A client that remembers what it has read and written of the cached kinds, and a reader of their caches. */
export interface Cached {
  kube: Kube;
  /**
   * The objects of a cached kind as a watch reported them: at least as new as all that this process has read and written of it, so that none
   * older than those is missing. Undefined if the watch has not come that far in a second: list them then.
   */
  cached?: (<T extends KubernetesObject>(resource: Resource<T>) => Promise<readonly T[] | undefined>) | undefined;
}

/** Keeps the objects of these kinds up to date by one list and a watch each, until the signal aborts. */
export function withCaches(
  kube: Kube,
  declared: readonly CachedKind[] | undefined,
  reflecting: Reflecting,
  watching: Watching = kube,
): Cached {
  if (!declared) return { kube };
  const caches = declared.map((one) => cacheOf(one, reflecting, watching));
  const note: Note = (of, object) => {
    for (const cache of caches) cache.note(of, object);
    return object;
  };
  return {
    kube: {
      ...kube,
      get: async (of, ref) => {
        const found = await kube.get(of, ref);
        return found && note(of, found);
      },
      list: async (of, options) => (await kube.list(of, options)).map((one) => note(of, one)),
      create: async (of, ...rest) => note(of, await kube.create(of, ...rest)),
      replace: async (of, ...rest) => note(of, await kube.replace(of, ...rest)),
      patch: async (of, ...rest) => note(of, await kube.patch(of, ...rest)),
      apply: async (of, ...rest) => note(of, await kube.apply(of, ...rest)),
    },
    cached: async <T extends KubernetesObject>(of: Resource<T>) => {
      const cache = caches.find(({ isOf }) => isOf(of));
      if (!cache) throw new Error(`expected a cache of ${of.kind} to be declared, found none`);
      return (await cache.read()) as T[] | undefined;
    },
  };
}

type Note = <T extends KubernetesObject>(of: Resource<T>, object: T) => T;

function cacheOf(
  { resource, namespace, fieldSelector, includes = () => true, keep }: CachedKind,
  reflecting: Reflecting,
  watching: Watching,
) {
  const selected = { ...(namespace ? { namespace } : {}), ...(fieldSelector ? { fieldSelector } : {}) };
  const objects = new Map<string, KubernetesObject>();
  const waiting = new Set<() => void>();
  let reached = '';
  let needed = '';
  let stalledAt: string | undefined;
  const isOf = ({ kind, apiVersion }: Resource) => kind === resource.kind && apiVersion === resource.apiVersion;
  const onChange = (resourceVersion: string) => {
    reached = resourceVersion;
    for (const look of waiting) look();
  };
  const list = async (nextPauseMs = pauseMs.first): Promise<void> => {
    await follow(watching, resource, selected, reflecting, objects, onChange, keep).catch(async (error: unknown) => {
      await reflecting.pause(nextPauseMs, reflecting.signal);
      // Not at the end of everything.
      if (reflecting.signal.aborted) return;
      logError(`cache of ${resource.kind}`, error);
      return list(longerPause(nextPauseMs));
    });
  };
  void list();
  /** The watch reports nothing of objects that the selector leaves out. */
  const note = (of: Resource, object: KubernetesObject) => {
    const { resourceVersion } = object.metadata;
    if (isOf(of) && includes(object) && compareVersions(needed, resourceVersion) < 0) needed = resourceVersion;
  };
  const caughtUp = (isBehind: () => boolean) => {
    const over = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if (!isBehind()) resolve();
    };
    waiting.add(look);
    const enough = AbortSignal.any([over.signal, reflecting.signal]);
    return Promise.race([promise, reflecting.pause(patienceMs, enough)]).finally(() => {
      waiting.delete(look);
      over.abort();
    });
  };
  const read = async () => {
    // What is written from now on, beside the reconcile that reads, is not waited for.
    const since = needed;
    const isBehind = () => reached === '' || compareVersions(reached, since) < 0;
    // A watch that receives nothing costs one wait, and not one in each reconcile.
    if (isBehind() && reached !== stalledAt) {
      await caughtUp(isBehind);
      stalledAt = isBehind() ? reached : undefined;
    }
    return isBehind() ? undefined : [...objects.values()];
  };
  return { isOf, note, read };
}
