import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import { type Contents, transitionTime, without } from '../controller/conditions.ts';
import type { Condition } from '../controller/kinds.ts';

/** As the controllers of apps/v1 set one: what says the same stays; what does not comes last. */
export function withCondition(conditions: readonly Condition[], next: Contents, nowMs: number): Condition[] {
  const before = conditionOf(conditions, next.type);
  if (before?.status === next.status && before.reason === next.reason) return [...conditions];
  return [...without(conditions, next.type), timed(next, before, nowMs)];
}

/** A condition with its times: that of the transition moves with the status. */
export const timed = (next: Contents, before: Condition | undefined, nowMs: number): Condition => ({
  ...next,
  lastUpdateTime: toTime(nowMs),
  lastTransitionTime: transitionTime(before, next.status, nowMs),
});
