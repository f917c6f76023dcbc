import type { Condition } from '../kinds/pelotech/vm-disk-image.ts';

/** The reason of an unready image whose deletion has begun: its snapshot is deleted because it is unused, and is not lost. */
export const takenDown = 'TakenDown';

/** The condition of that type, of whatever kind of object. */
export const conditionOf = <C extends { type: string }>(conditions: readonly C[] | undefined, type: string) =>
  conditions?.find((condition) => condition.type === type);

type Next = Omit<Condition, 'lastTransitionTime'>;

/**
 * The condition after what was there before; lastTransitionTime moves only with the status (Kubernetes API conventions), and
 * never back, be the clocks of those who write it as they may (invariant S9).
 */
export const conditionAfter = <N extends Next>(before: Condition | undefined, next: N, now: string) => ({
  ...next,
  lastTransitionTime:
    before && (before.status === next.status || isLater(before, now)) ? before.lastTransitionTime : now,
});

const isLater = ({ lastTransitionTime }: Condition, now: string) => Date.parse(lastTransitionTime) > Date.parse(now);

/** The list with this condition in it. */
export function withCondition(conditions: readonly Condition[] | undefined, next: Next, now: string): Condition[] {
  const others = (conditions ?? []).filter(({ type }) => type !== next.type);
  const after = conditionAfter(conditionOf(conditions, next.type), next, now);
  return [...others, after].sort((a, b) => a.type.localeCompare(b.type));
}
