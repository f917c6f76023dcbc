import type { Action } from '../../actions.ts';
import type { Batch, FunctionDeclaration } from '../../function.ts';

type Timer = 'sweep' | 'audit';

/** Two ticks: what has lasted longer is no event that is still on its way. */
const longAgoMs: Readonly<Record<Timer, number>> = { sweep: 60_000, audit: 1_200_000 };

/** The timer that alone led to a reconcile; undefined if an event had part in it. */
export function timerAlone({ subjects, messages, audit, sweep }: Batch): Timer | undefined {
  if (subjects.length + messages.length > 0) return undefined;
  return audit ? 'audit' : sweep ? 'sweep' : undefined;
}

/** One point if a timer did what an event should have done. Nothing in OpenStack sends events, so there is no point for its part. */
export function missedEvents<Observed>(
  { name, part, decide }: Pick<FunctionDeclaration<Observed>, 'name' | 'part' | 'decide'>,
  batch: Batch,
  observed: Observed,
  actions: readonly Action[],
): (Action & { do: 'measure' })[] {
  const timer = timerAlone(batch);
  if (!timer || part === 'openstack' || !isMissedEvent(decide, observed, actions, timer)) return [];
  return [{ do: 'measure', metric: 'ot.events.missed', value: 1, attributes: { function: name, timer } }];
}

/**
 * True if a timer led to a decision that an event should have led to: the decision would have been the same long before, so the passage of
 * time did not lead to it. That can be asked of decisions because they are pure.
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
