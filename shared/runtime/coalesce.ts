import { distinct } from '../distinct.ts';
import { type Batch, keyOfSubject, type Subject, withoutVerb } from '../function.ts';
import type { Verdict } from './verdict.ts';

/**
 * Lets batches share reconciles: one runs at a time, and all batches that arrive meanwhile share the next. Its verdict answers
 * each batch. A process keeps no other state between events, and two processes need not share it.
 */
export function coalesced(run: (batch: Batch) => Promise<Verdict>): (batch: Batch) => Promise<void> {
  let isRunning = false;
  let waiting: { batch: Batch; resolve: () => void; reject: (error: unknown) => void }[] = [];

  async function runAll() {
    isRunning = true;
    while (waiting.length > 0) {
      const taken = waiting;
      waiting = [];
      const failed = (error: unknown) => async () => error;
      const verdict = await run(merged(taken.map(({ batch }) => batch))).catch(failed);
      // No reconcile waits for what is performed beside it.
      for (const { batch, resolve, reject } of taken)
        void verdict(batch).then((error) => (error === undefined ? resolve() : reject(error)), reject);
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

/** Merged once, because thousands of batches may wait while a reconcile runs. */
function merged(batches: readonly Batch[]): Batch {
  const subjects = batches.flatMap((batch) => batch.subjects);
  const messages = batches.flatMap((batch) => batch.messages);
  const audited = batches.flatMap((batch) => batch.audited ?? []);
  const totals = batches.findLast((batch) => batch.totals)?.totals;
  return {
    subjects: [...Map.groupBy(subjects, keyOfSubject).values()].flatMap(asOne),
    // A repeat has the same signature, too: an event of a stranger under the same id takes the place of none.
    messages: distinct(messages, ({ source, id, signed }) => JSON.stringify([source, id, signed])),
    sweep: batches.some(({ sweep }) => sweep),
    audit: batches.some(({ audit }) => audit),
    ...(audited.length > 0 ? { audited } : {}),
    ...(totals ? { totals } : {}),
  };
}

/** Events that say different things of an object say only that it is to be looked at. */
function asOne(events: readonly Subject[]): Subject[] {
  const [first, ...others] = events;
  if (first === undefined || others.every(({ verb }) => verb === first.verb)) return events.slice(0, 1);
  return [withoutVerb(first)];
}
