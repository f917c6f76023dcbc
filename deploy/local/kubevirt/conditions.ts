import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { type Contents, transitionTime } from '../controller/conditions.ts';
import type { Condition } from './kinds.ts';

/** Whether a condition of this type has that status and, where one is given, that reason. */
export function hasCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
  status: string,
  reason?: string,
) {
  const found = conditionOf(conditions, type);
  return found?.status === status && (reason === undefined || found.reason === reason);
}

/** Sets conditions: the time moves with the status, a new one comes last. */
export function withConditions(before: readonly Condition[], next: readonly Contents[], nowMs: number): Condition[] {
  const timed = next.map(
    (one): Condition => ({
      ...one,
      lastTransitionTime: transitionTime(conditionOf(before, one.type), one.status, nowMs),
    }),
  );
  return replaced(before, timed);
}

/** The conditions with others in the place of those of the same type; new ones come last. */
export const replaced = (before: readonly Condition[], others: readonly Condition[]): Condition[] => [
  ...before.map((condition) => conditionOf(others, condition.type) ?? condition),
  ...others.filter(({ type }) => !conditionOf(before, type)),
];
