import type { Action } from '../../actions.ts';
import type { Batch } from '../../function.ts';

export type Timer = 'sweep' | 'audit';

/** Two ticks: what has been so for longer is not only on its way. */
const longAgoMs: Readonly<Record<Timer, number>> = { sweep: 60_000, audit: 1_200_000 };

/** The timer that alone brought a pass about; undefined where an event had part in it. */
export function timerAlone({ subjects, messages, audit, sweep }: Batch): Timer | undefined {
  if (subjects.length + messages.length > 0) return undefined;
  return audit ? 'audit' : sweep ? 'sweep' : undefined;
}

/**
 * True where a decision that a timer brought about is one that an event should have: it would have been made long before, too, so
 * that it is not time that brought it. That can be asked of decisions because they are pure.
 */
export function isMissedEvent<Observed>(
  decide: (observed: Observed) => readonly Action[],
  observed: Observed,
  actions: readonly Action[],
  timer: Timer,
): boolean {
  if (!actions.some(isWrite)) return false;
  if (typeof observed !== 'object' || observed === null || !('nowMs' in observed)) return true;
  const longAgo = { ...observed, nowMs: Number(observed.nowMs) - longAgoMs[timer], isAudit: false };
  return decide(longAgo).some(isWrite);
}

const isWrite = (action: Action) => 'resource' in action;
