import type { Subject } from '../function.ts';

/** Reconciles objects after a while, once for each and at the earliest time asked for; hints, forgotten with the process. */
export function delayedBatches(
  reconcile: (about: Subject) => Promise<void>,
  after: (milliseconds: number, task: () => void) => () => void = nodeTimer,
  now: () => number = Date.now,
) {
  const waiting = new Map<string, { dueMs: number; cancel: () => void }>();
  return {
    requeueAfter(about: Subject, afterMs: number) {
      const key = Object.values(about).join('\u0000');
      const dueMs = now() + afterMs;
      const known = waiting.get(key);
      if (known && known.dueMs <= dueMs) return;
      known?.cancel();
      const begin = () => {
        waiting.delete(key);
        // The sweep finds what a failed reconcile did not.
        reconcile(about).catch(() => undefined);
      };
      waiting.set(key, { dueMs, cancel: after(afterMs, begin) });
    },
    cancelAll() {
      for (const { cancel } of waiting.values()) cancel();
      waiting.clear();
    },
  };
}

function nodeTimer(milliseconds: number, task: () => void) {
  const timer = setTimeout(task, milliseconds);
  // The timer keeps no process alive.
  timer.unref();
  return () => clearTimeout(timer);
}
