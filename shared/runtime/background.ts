import { logError } from './log.ts';

/** The work that continues after an answer. */
export interface Background {
  /** Lets a promise settle after the answer; an error is logged. */
  waitUntil(promise: Promise<unknown>): void;
  /** Resolves when nothing is left to do. */
  drain(): Promise<void>;
}

export function backgroundWork(): Background {
  const pending = new Set<Promise<unknown>>();
  return {
    waitUntil(promise) {
      const settled = promise
        .catch((error: unknown) => logError('notifications', error))
        .finally(() => pending.delete(settled));
      pending.add(settled);
    },
    async drain() {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}
