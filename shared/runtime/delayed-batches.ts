import type { Subject } from '../function.ts';

/** Looks at objects after a while, once for each and as soon as anybody wants it; hints, forgotten with the process. */
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
        // The sweep finds what a look that failed did not.
        look(about).catch(() => undefined);
      };
      waiting.set(key, { dueMs, callOff: after(afterMs, begin) });
    },
    /** Calls all of them off. */
    forget() {
      for (const { callOff } of waiting.values()) callOff();
      waiting.clear();
    },
  };
}

function nodeTimer(milliseconds: number, task: () => void) {
  const timer = setTimeout(task, milliseconds);
  // A process that has nothing else to do ends.
  timer.unref();
  return () => clearTimeout(timer);
}
