import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { type Said, without } from '../controller/conditions.ts';
import type { Condition } from '../controller/kinds.ts';
import { timestamp } from '../controller/write.ts';

/** As the controllers of apps/v1 set one: what says the same stays; what does not comes last. */
export function withCondition(conditions: readonly Condition[], said: Said, nowMs: number): Condition[] {
  const before = conditionOf(conditions, said.type);
  if (before?.status === said.status && before.reason === said.reason) return [...conditions];
  return [...without(conditions, said.type), timed(said, before, nowMs)];
}

/** A condition with its times: that of the transition moves with the status. */
export function timed(said: Said, before: Condition | undefined, nowMs: number): Condition {
  const now = timestamp(nowMs);
  const kept = before?.status === said.status ? before.lastTransitionTime : undefined;
  return { ...said, lastUpdateTime: now, lastTransitionTime: kept ?? now };
}
