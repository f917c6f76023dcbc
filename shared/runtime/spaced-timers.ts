import type { Batch } from '../function.ts';

/** How long after the beginning of one sweep or audit the next begins at the earliest, in milliseconds: less than any timer's interval. */
export interface TimerSpacing {
  sweep: number;
  audit: number;
}

/**
 * A sender that may post to a Broker may post a timer's event. An event that arrives soon after an equal one that succeeded is skipped:
 * the next tick finds what it would have found. A failed event does not count, so that its redelivery is served.
 */
export function spacedTimers(
  enqueue: (batch: Batch) => Promise<void>,
  now: () => number,
  spacing: TimerSpacing,
): (batch: Batch) => Promise<void> {
  const doneMs = { sweep: Number.NEGATIVE_INFINITY, audit: Number.NEGATIVE_INFINITY };
  return async (batch) => {
    const timer = batch.audit ? 'audit' : batch.sweep ? 'sweep' : undefined;
    if (!timer) return enqueue(batch);
    const begunMs = now();
    if (begunMs - doneMs[timer] < spacing[timer]) return;
    await enqueue(batch);
    doneMs[timer] = begunMs;
  };
}
