import { compareVersions, type KubernetesObject, type Resource } from '../kinds/resource.ts';
import { follow } from './follow.ts';
import type { Kube } from './kube.ts';
import { logError } from './log.ts';
import { longerPause, pauseMs, type Reflecting, type Watching } from './reflect.ts';

/** How long a reconcile waits for its cache, in milliseconds. */
const patienceMs = 1000;

/** What a function that always runs reads through a cache, because a list of it at each event would grow with the number of objects. */
export interface CachedKind {
  resource: Resource;
  /** Selects the objects of the cache. */
  fieldSelector: string;
  /** The same as code. */
  includes(object: KubernetesObject): boolean;
}

/** A client that remembers what it has read and written of the cached kind, and a reader of the cache. */
export interface Cached {
  kube: Kube;
  /**
   * The objects of the kind as a watch reported them: at least as new as all that this process has read and written of it, so that none
   * older than those is missing. Undefined if the watch has not come that far in a second: list them then.
   */
  cached?: (<T extends KubernetesObject>(resource: Resource<T>) => Promise<readonly T[] | undefined>) | undefined;
}

/** Keeps the objects of a kind up to date by one list and a watch, until the signal aborts. */
export function withCache(
  kube: Kube,
  declared: CachedKind | undefined,
  reflecting: Reflecting,
  watching: Watching = kube,
): Cached {
  if (!declared) return { kube };
  const { resource, fieldSelector, includes } = declared;
  const objects = new Map<string, KubernetesObject>();
  const waiting = new Set<() => void>();
  let reached = '';
  let needed = '';
  let stalledAt: string | undefined;
  const isBehind = () => reached === '' || compareVersions(reached, needed) < 0;
  const isCached = ({ kind, apiVersion }: Resource) => kind === resource.kind && apiVersion === resource.apiVersion;
  const onChange = (resourceVersion: string) => {
    reached = resourceVersion;
    if (!isBehind()) for (const resume of waiting) resume();
  };
  const list = async (nextPauseMs = pauseMs.first): Promise<void> => {
    await follow(watching, resource, { fieldSelector }, reflecting, objects, onChange).catch(async (error: unknown) => {
      await reflecting.pause(nextPauseMs, reflecting.signal);
      // Not at the end of everything.
      if (reflecting.signal.aborted) return;
      logError(`cache of ${resource.kind}`, error);
      return list(longerPause(nextPauseMs));
    });
  };
  void list();
  /** The watch reports nothing of objects that the selector leaves out. */
  const note = <T extends KubernetesObject>(of: Resource<T>, object: T) => {
    const { resourceVersion } = object.metadata;
    if (isCached(of) && includes(object) && compareVersions(needed, resourceVersion) < 0) needed = resourceVersion;
    return object;
  };
  const caughtUp = () => {
    const over = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.add(resolve);
    const enough = AbortSignal.any([over.signal, reflecting.signal]);
    return Promise.race([promise, reflecting.pause(patienceMs, enough)]).finally(() => {
      waiting.delete(resolve);
      over.abort();
    });
  };
  return {
    kube: {
      ...kube,
      get: async (of, ref) => {
        const found = await kube.get(of, ref);
        return found && note(of, found);
      },
      create: async (of, ...rest) => note(of, await kube.create(of, ...rest)),
      replace: async (of, ...rest) => note(of, await kube.replace(of, ...rest)),
      patch: async (of, ...rest) => note(of, await kube.patch(of, ...rest)),
      apply: async (of, ...rest) => note(of, await kube.apply(of, ...rest)),
    },
    cached: async <T extends KubernetesObject>(of: Resource<T>) => {
      if (!isCached(of))
        throw new Error(`expected a cache of ${of.kind} to be declared, found one of ${resource.kind}`);
      // A watch that stands still costs one wait, and not one in each reconcile.
      if (isBehind() && reached !== stalledAt) {
        await caughtUp();
        stalledAt = isBehind() ? reached : undefined;
      }
      return isBehind() ? undefined : ([...objects.values()] as T[]);
    },
  };
}
