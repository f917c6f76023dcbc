import type { Clock } from '../clock.ts';

/** Things to look at again soon, each once however often it was asked for. */
interface WorkQueue {
  add(key: string): void;
  stop(): void;
}

const retryAfterMs = 1000;

/** Hands each key to `handle`, one at a time, in the background; a key whose handling throws comes again in a second. */
export function workQueue(clock: Clock, handle: (key: string) => Promise<void>): WorkQueue {
  const waiting = new Set<string>();
  let isRunning = false;
  let isStopped = false;

  async function drain() {
    for (const key of waiting) {
      waiting.delete(key);
      if (isStopped) break;
      await handle(key).catch(() => clock.after(retryAfterMs, () => add(key)));
    }
    isRunning = false;
  }

  function add(key: string) {
    if (isStopped) return;
    waiting.add(key);
    if (isRunning) return;
    isRunning = true;
    setImmediate(() => void drain());
  }

  return {
    add,
    stop: () => {
      isStopped = true;
      waiting.clear();
    },
  };
}
