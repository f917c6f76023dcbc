import type { Condition } from '../kinds/schema.ts';
import type { Reason } from '../reasons/reason.ts';
import { redactMessage } from './events.ts';

/** The reason of an unready image whose deletion has begun: its snapshot is deleted because it is unused, and is not lost. */
export const takenDown = 'TakenDown';

/** The condition of that type, of whatever kind of object. */
export const conditionOf = <C extends { type: string }>(conditions: readonly C[] | undefined, type: string) =>
  conditions?.find((condition) => condition.type === type);

type Next = Omit<Condition, 'lastTransitionTime' | 'reason'> & { reason: Reason };

/**
 * The condition after what was there before; lastTransitionTime moves only with the status (Kubernetes API conventions), and
 * never back, be the clocks of those who write it as they may (invariant S9).
 */
export const conditionAfter = <N extends Next>(before: Condition | undefined, next: N, now: string) => ({
  ...next,
  message: redactMessage(next.message),
  lastTransitionTime:
    before && (before.status === next.status || isLater(before, now)) ? before.lastTransitionTime : now,
});

const isLater = ({ lastTransitionTime }: Condition, now: string) => Date.parse(lastTransitionTime) > Date.parse(now);

/**
 * What kstatus (Flux, Helm, Argo CD's check of ours) reads before Ready: more is to come, or it has failed and only a change helps. Each exists
 * only while it is True.
 */
export function withProgress(
  conditions: readonly Condition[],
  is: 'Reconciling' | 'Stalled' | undefined,
  said: Omit<Next, 'type' | 'status'>,
  now: string,
): Condition[] {
  const others = conditions.filter(({ type }) => type === is || (type !== 'Reconciling' && type !== 'Stalled'));
  return is ? withCondition(others, { ...said, type: is, status: 'True' }, now) : others;
}

/** The list with this condition in it. */
export function withCondition(conditions: readonly Condition[] | undefined, next: Next, now: string): Condition[] {
  const others = (conditions ?? []).filter(({ type }) => type !== next.type);
  const after = conditionAfter(conditionOf(conditions, next.type), next, now);
  return [...others, after].sort((a, b) => a.type.localeCompare(b.type));
}
