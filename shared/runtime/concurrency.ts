/** Runs at most `most` calls at once. The others wait and begin in the order of their arrival. */
export function limitConcurrency(most: number): <T>(run: () => Promise<T>) => Promise<T> {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (run) => {
    if (free > 0) free--;
    else await new Promise<void>((begin) => void waiting.push(begin));
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}

/** Runs a call for each value, at most `most` at once; the results have the order of the values. */
export function mapConcurrently<T, R>(values: readonly T[], most: number, run: (value: T) => Promise<R>): Promise<R[]> {
  const limited = limitConcurrency(most);
  return Promise.all(values.map((value) => limited(() => run(value))));
}
