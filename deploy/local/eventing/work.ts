/** Background work: its failures are not thrown. */
interface WorkInProgress {
  add(work: Promise<unknown>): void;
  /** Resolves when there is nothing left, what was added meanwhile included. */
  idle(): Promise<void>;
}

export function workInProgress(): WorkInProgress {
  const running = new Set<Promise<unknown>>();
  return {
    add: (work) => {
      const settled = work.catch(() => {}).finally(() => running.delete(settled));
      running.add(settled);
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
