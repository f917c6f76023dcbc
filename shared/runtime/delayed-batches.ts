import type { Subject } from '../function.ts';

/** Reconciles objects after a while, once for each and at the earliest time asked for; hints, forgotten with the process. */
export function delayedBatches(
  look: (about: Subject) => Promise<void>,
  after: (milliseconds: number, task: () => void) => () => void = nodeTimer,
  now: () => number = Date.now,
) {
  const waiting = new Map<string, { dueMs: number; callOff: () => void }>();
  return {
    look(about: Subject, afterMs: number) {
      const key = Object.values(about).join('\u0000');
      const dueMs = now() + afterMs;
      const known = waiting.get(key);
      if (known && known.dueMs <= dueMs) return;
      known?.callOff();
      const begin = () => {
        waiting.delete(key);
        // The sweep finds what a failed reconcile did not.
        look(about).catch(() => undefined);
      };
      waiting.set(key, { dueMs, callOff: after(afterMs, begin) });
    },
    /** Cancels all of them. */
    forget() {
      for (const { callOff } of waiting.values()) callOff();
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
