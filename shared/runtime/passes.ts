import type { Wake } from '../function.ts';

/**
 * Lets events share passes: one pass at a time, and all that come meanwhile share the next. This is all that a process
 * keeps between events, and nothing is wrong where two processes do not share it.
 */
export function sharedPasses(run: (wake: Wake) => Promise<void>): (wake: Wake) => Promise<void> {
  let isRunning = false;
  let next: { wake: Wake; promise: Promise<void>; start: () => void } | undefined;

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
      next.wake = merge(next.wake, wake);
      return next.promise;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { wake, promise, start: () => run(waiting.wake).then(resolve, reject) };
    next = waiting;
    if (!isRunning) void runNext();
    return promise;
  };
}

function merge(a: Wake, b: Wake): Wake {
  const subjects = new Map(
    [...a.subjects, ...b.subjects].map((subject) => [Object.values(subject).join('\u0000'), subject]),
  );
  const messages = new Map(
    [...a.messages, ...b.messages].map((message) => [`${message.source}\u0000${message.id}`, message]),
  );
  return {
    subjects: [...subjects.values()],
    messages: [...messages.values()],
    sweep: a.sweep || b.sweep,
    audit: a.audit || b.audit,
  };
}
