import type { Condition } from '../resources/pelotech/vm-disk-image.ts';

/** Why an image that is taken down is not Ready: its snapshot goes because nobody holds it, and is not lost. */
export const takenDown = 'TakenDown';

export const conditionOf = (conditions: readonly Condition[] | undefined, type: string) =>
  conditions?.find((condition) => condition.type === type);

/** The list with this condition in it; lastTransitionTime moves only with the status (Kubernetes API conventions). */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  next: Omit<Condition, 'lastTransitionTime'>,
  now: string,
): Condition[] {
  const before = conditionOf(conditions, next.type);
  const lastTransitionTime = before?.status === next.status ? before.lastTransitionTime : now;
  const others = (conditions ?? []).filter(({ type }) => type !== next.type);
  return [...others, { ...next, lastTransitionTime }].sort((a, b) => a.type.localeCompare(b.type));
}
