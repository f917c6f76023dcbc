import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject, Resource } from '../kinds/resource.ts';
import { ApiError, NoAnswer } from './errors.ts';
import type { Kube, ListOptions, WatchEvent } from './kube.ts';

/** What a watcher needs of a client. */
export type Watching = Pick<Kube, 'pages' | 'watch'>;

export interface Reflecting {
  /** Waits, or less where the signal aborts. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Ends it. */
  signal: AbortSignal;
}

/** Waits by the real clock. */
export const realPause: Reflecting['pause'] = (milliseconds, signal) =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined);

/** The pause after a failure doubles from the first to the second, as in client-go: each list may be large. */
export const pauseMs = { first: 1000, most: 30_000 };

export const longerPause = (lastMs: number) => Math.min(2 * lastMs, pauseMs.most);

/**
 * Lists once, then watches until the signal aborts, as client-go's reflector does: a watch that merely ended continues
 * from the last resourceVersion seen; one that was refused or has expired starts over with a list, and what happened
 * in between shows only in `replaced`. Resolves when the first watch is about to start; throws what the first list threw.
 */
export async function reflect<T extends KubernetesObject>(
  kube: Watching,
  resource: Resource<T>,
  options: ListOptions,
  { pause, signal }: Reflecting,
  handlers: {
    replaced?(items: readonly T[], resourceVersion: string): void;
    changed(event: WatchEvent<T>): void;
    /** What `replaced` receives of each object: no more of a list than that is held. */
    keep?(object: T): T;
  },
): Promise<void> {
  const list = async () => {
    const items: T[] = [];
    let resourceVersion = '';
    for await (const page of kube.pages(resource, options)) {
      items.push(...page.items.map((item) => handlers.keep?.(item) ?? item));
      resourceVersion = page.resourceVersion;
    }
    handlers.replaced?.(items, resourceVersion);
    return resourceVersion;
  };
  const watchOnce = async (from: string) => {
    let last = from;
    await kube
      .watch(resource, { ...options, resourceVersion: from, signal }, (event) => {
        last = event.object.metadata.resourceVersion;
        handlers.changed(event);
      })
      .catch((error: unknown) => {
        if (isLost(error)) throw error;
      });
    return last;
  };
  const run = async (first: string) => {
    let from = first;
    let nextPauseMs = pauseMs.first;
    while (!signal.aborted) {
      try {
        from = await watchOnce(from || (await list()));
        nextPauseMs = pauseMs.first;
      } catch {
        from = '';
        await pause(nextPauseMs, signal);
        nextPauseMs = longerPause(nextPauseMs);
      }
    }
  };
  // Only the signal ends this, and then no caller waits for it.
  run(await list()).catch(() => {});
}

/** An answer other than a stream, or none at all; a stream that was cut or became silent is not lost. */
export const isLost = (error: unknown) => error instanceof ApiError || error instanceof NoAnswer;
