import type { Wake } from '../function.ts';

/**
 * Lets events share passes: one pass at a time, and all that come meanwhile share the next. This is all that a process
 * keeps between events, and nothing is wrong where two processes do not share it.
 */
export function sharedPasses(run: (wake: Wake) => Promise<void>): (wake: Wake) => Promise<void> {
  let isRunning = false;
  let next: { wakes: Wake[]; promise: Promise<void>; start: () => void } | undefined;

  async function runNext() {
    isRunning = true;
    while (next) {
      const { start, promise } = next;
      next = undefined;
      start();
      await promise.catch(() => undefined);
    }
    isRunning = false;
  }

  return (wake) => {
    if (next) {
      next.wakes.push(wake);
      return next.promise;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const wakes = [wake];
    next = { wakes, promise, start: () => run(merged(wakes)).then(resolve, reject) };
    if (!isRunning) void runNext();
    return promise;
  };
}

/** Once for all that wait: thousands may, while a pass runs. */
function merged(wakes: readonly Wake[]): Wake {
  const subjects = wakes.flatMap((wake) => wake.subjects);
  const messages = wakes.flatMap((wake) => wake.messages);
  return {
    subjects: distinct(subjects, (subject) => Object.values(subject).join('\u0000')),
    messages: distinct(messages, ({ source, id }) => `${source}\u0000${id}`),
    sweep: wakes.some(({ sweep }) => sweep),
    audit: wakes.some(({ audit }) => audit),
  };
}

const distinct = <T>(values: readonly T[], keyOf: (value: T) => string) => [
  ...new Map(values.map((value) => [keyOf(value), value])).values(),
];
