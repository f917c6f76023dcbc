import { toTime } from '../../../shared/kubernetes/time.ts';
import type { Condition } from './kinds.ts';

/** The contents of a condition, without its times. */
export type Contents = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

export const without = <C extends { type: string }>(conditions: readonly C[], ...types: string[]) =>
  conditions.filter(({ type }) => !types.includes(type));

/** Since when a condition has its status: the time moves with the status. */
export const transitionTime = (
  before: { status: string; lastTransitionTime?: string | null | undefined } | undefined,
  status: string,
  nowMs: number,
) => (before?.status === status ? before.lastTransitionTime : undefined) ?? toTime(nowMs);

/** A condition of a Pod, as the kubelet writes one. */
const podCondition = (type: string, isTrue: boolean, nowMs: number, reason?: string, message?: string): Condition => ({
  type,
  status: isTrue ? 'True' : 'False',
  lastTransitionTime: toTime(nowMs),
  ...(reason ? { reason } : {}),
  ...(message ? { message } : {}),
});

/** Those of a Pod that has a node. */
export function podConditions(
  isReady: boolean,
  nowMs: number,
  unready = 'ContainersNotReady',
  message?: string,
): Condition[] {
  const why = isReady ? undefined : unready;
  return [
    podCondition('PodScheduled', true, nowMs),
    podCondition('Initialized', true, nowMs),
    podCondition('ContainersReady', isReady, nowMs, why, message),
    podCondition('Ready', isReady, nowMs, why, message),
  ];
}

/** A Pod for which there is no node, and what the scheduler says of that. */
export const unschedulable = (message: string, nowMs: number) => ({
  phase: 'Pending',
  conditions: [podCondition('PodScheduled', false, nowMs, 'Unschedulable', message)],
});
