import { keyOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import { hasStatus } from '../../../shared/runtime/errors.ts';
import type { Clock } from '../clock.ts';

/** When a key wants another look: after a hold during which nothing else wakes it, or at the latest after a time. */
export type Again = { holdMs: number } | { requeueAfterMs: number } | undefined;

export interface WorkQueue {
  /** Asks for a look at this object; however often it is asked, one look at a time. */
  add(ref: ObjectReference): void;
  /** Begins with what has been added so far. */
  start(): void;
  /** Ends all waiting and resolves when what runs has ended. */
  stop(): Promise<void>;
}

interface QueueOptions {
  clock: Clock;
  /** Looks at one object and brings it one step further. */
  reconcile: (ref: ObjectReference) => Promise<Again>;
  /** Time to the next look after an error, doubled for each error in a row. */
  retry: { firstMs: number; maxMs: number };
  onError?: ((error: unknown, ref: ObjectReference) => void) | undefined;
}

const workers = 16;

/** The work queue of a controller: each object alone, several at once, errors retried with growing pauses, a lost race at once. */
export function startWorkQueue({ clock, reconcile, retry, onError }: QueueOptions): WorkQueue {
  const waiting = new Map<string, ObjectReference>();
  const running = new Map<string, Promise<void>>();
  const dirty = new Set<string>();
  const held = new Map<string, () => void>();
  const later = new Map<string, { atMs: number; cancel: () => void }>();
  const failures = new Map<string, number>();
  let started = false;
  let stopped = false;

  const add = (ref: ObjectReference) => {
    const key = keyOf(ref);
    if (stopped) return;
    if (running.has(key) || held.has(key)) dirty.add(key);
    else waiting.set(key, ref);
    pump();
  };

  const pump = () => {
    if (!started) return;
    for (const [key, ref] of waiting) {
      if (running.size >= workers) return;
      waiting.delete(key);
      running.set(key, work(key, ref));
    }
  };

  const hold = (key: string, ref: ObjectReference, holdMs: number) => {
    const release = () => {
      held.delete(key);
      dirty.delete(key);
      add(ref);
    };
    held.set(key, clock.after(holdMs, release));
  };

  const requeueAfter = (key: string, ref: ObjectReference, delayMs: number) => {
    const atMs = clock.now() + delayMs;
    const planned = later.get(key);
    if (planned && planned.atMs <= atMs) return;
    planned?.cancel();
    const look = () => {
      later.delete(key);
      add(ref);
    };
    later.set(key, { atMs, cancel: clock.after(delayMs, look) });
  };

  const failed = (key: string, ref: ObjectReference, error: unknown) => {
    if (hasStatus(error, 409)) return void dirty.add(key);
    const count = failures.get(key) ?? 0;
    failures.set(key, count + 1);
    onError?.(error, ref);
    requeueAfter(key, ref, Math.min(retry.firstMs * 2 ** count, retry.maxMs));
  };

  const work = async (key: string, ref: ObjectReference) => {
    // Deferred, so that `running` knows of this look before it can end.
    await Promise.resolve();
    let again: Again;
    try {
      again = await reconcile(ref);
      failures.delete(key);
    } catch (error) {
      if (!stopped) failed(key, ref, error);
    }
    running.delete(key);
    if (stopped) return;
    if (again && 'holdMs' in again && again.holdMs > 0) hold(key, ref, again.holdMs);
    else if (again && 'holdMs' in again) waiting.set(key, ref);
    else {
      if (again) requeueAfter(key, ref, again.requeueAfterMs);
      if (dirty.delete(key)) waiting.set(key, ref);
    }
    pump();
  };

  return {
    add,
    start() {
      started = true;
      pump();
    },
    async stop() {
      stopped = true;
      for (const cancel of held.values()) cancel();
      for (const { cancel } of later.values()) cancel();
      waiting.clear();
      await Promise.all(running.values());
    },
  };
}
