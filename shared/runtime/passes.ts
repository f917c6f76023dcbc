import { distinct } from '../distinct.ts';
import type { Batch } from '../function.ts';
import type { Verdict } from './verdict.ts';

/**
 * Lets events share passes: one pass runs at a time, and all events that come meanwhile share the next. The verdict of the pass
 * answers each event. A process keeps no other state between events, and two processes need not share it.
 */
export function sharedPasses(run: (batch: Batch) => Promise<Verdict>): (batch: Batch) => Promise<void> {
  let isRunning = false;
  let waiting: { batch: Batch; resolve: () => void; reject: (error: unknown) => void }[] = [];

  async function runAll() {
    isRunning = true;
    while (waiting.length > 0) {
      const taken = waiting;
      waiting = [];
      const failed = (error: unknown) => () => error;
      const verdict = await run(merged(taken.map(({ batch }) => batch))).catch(failed);
      for (const { batch, resolve, reject } of taken) {
        const error = verdict(batch);
        if (error === undefined) resolve();
        else reject(error);
      }
    }
    isRunning = false;
  }

  return (batch) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push({ batch, resolve, reject });
    if (!isRunning) void runAll();
    return promise;
  };
}

/** Once for all that wait: thousands may, while a pass runs. */
function merged(batches: readonly Batch[]): Batch {
  const subjects = batches.flatMap((batch) => batch.subjects);
  const messages = batches.flatMap((batch) => batch.messages);
  return {
    subjects: distinct(subjects, (subject) => Object.values(subject).join('\u0000')),
    messages: distinct(messages, ({ source, id }) => `${source}\u0000${id}`),
    sweep: batches.some(({ sweep }) => sweep),
    audit: batches.some(({ audit }) => audit),
  };
}
