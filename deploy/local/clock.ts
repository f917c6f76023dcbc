/** The clock of the local cluster: the machine's clock, or a clock that a test steps. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs `task` once, `delayMs` from now; the returned function calls it off. */
  after(delayMs: number, task: () => void): () => void;
}

/** setTimeout takes 32 bits; a longer delay would be over at once. */
const longestTimeoutMs = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, task) => {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number) => {
      timer =
        leftMs > longestTimeoutMs
          ? setTimeout(() => wait(leftMs - longestTimeoutMs), longestTimeoutMs)
          : setTimeout(task, leftMs);
    };
    wait(delayMs);
    return () => clearTimeout(timer);
  },
};

export interface SteppedClock extends Clock {
  /** Moves time on, running what falls due in order of its time. */
  step(milliseconds: number): void;
}

export function steppedClock(startMs = Date.parse('2026-01-01T00:00:00Z')): SteppedClock {
  let nowMs = startMs;
  let order = 0;
  const due = new Map<number, { atMs: number; task: () => void }>();
  const next = (untilMs: number) =>
    [...due].filter(([, entry]) => entry.atMs <= untilMs).sort(([a, x], [b, y]) => x.atMs - y.atMs || a - b)[0];
  return {
    now: () => nowMs,
    after: (delayMs, task) => {
      const key = order++;
      due.set(key, { atMs: nowMs + delayMs, task });
      return () => due.delete(key);
    },
    step: (milliseconds) => {
      const untilMs = nowMs + milliseconds;
      for (let entry = next(untilMs); entry; entry = next(untilMs)) {
        due.delete(entry[0]);
        nowMs = entry[1].atMs;
        entry[1].task();
      }
      nowMs = untilMs;
    },
  };
}

/** Resolves after that time on `clock`; rejects with the signal's reason when it is called off. */
export function delay(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const off = clock.after(milliseconds, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    const abort = () => {
      off();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}
