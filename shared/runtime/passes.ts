import type { Wake } from '../function.ts';
import type { Verdict } from './verdict.ts';

/**
 * Lets events share passes: one pass runs at a time, and all events that come meanwhile share the next. The verdict of the pass
 * answers each event. A process keeps no other state between events, and two processes need not share it.
 */
export function sharedPasses(run: (wake: Wake) => Promise<Verdict>): (wake: Wake) => Promise<void> {
  let isRunning = false;
  let waiting: { wake: Wake; resolve: () => void; reject: (error: unknown) => void }[] = [];

  async function runAll() {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const failed = (error: unknown) => () => error;
      const verdict = await run(merged(batch.map(({ wake }) => wake))).catch(failed);
      for (const { wake, resolve, reject } of batch) {
        const error = verdict(wake);
        if (error === undefined) resolve();
        else reject(error);
      }
    }
    isRunning = false;
  }

  return (wake) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push({ wake, resolve, reject });
    if (!isRunning) void runAll();
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
