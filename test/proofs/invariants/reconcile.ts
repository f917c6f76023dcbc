import type { Step } from './follow.ts';
import type { Policy } from './plain-policy.ts';
import { readableFrom } from './policies.ts';

// A function decides by what it read. A write is therefore judged by the state at the start of its reconcile.

export const longestReconcileMs = 5000;

/** When the reconcile of a change began to read: its resourceVersion if known, else by the clock. */
export const beganAt = ({ change }: Step) => ({ revision: change.since, ms: change.atMs - longestReconcileMs });

/** The reconcile of this change began before that moment. */
export function beganBefore(step: Step, then: { revision: number; ms: number }): boolean {
  const { revision, ms } = beganAt(step);
  return revision === undefined ? ms < then.ms : revision < then.revision;
}

/** The object existed when the reconcile of this change began. */
export const existedAtStart = (step: Step, uid: string) => {
  const times = step.state.times.get(uid);
  return times !== undefined && !beganBefore(step, { revision: times.bornRevision, ms: times.bornMs });
};

/** The object has not changed since the reconcile of this change began. */
export const unchangedSinceStart = (step: Step, uid: string) => {
  const times = step.state.times.get(uid);
  return times !== undefined && !beganBefore(step, times);
};

/** Every policy that the reconcile of this change may have read. */
export const policiesOf = (step: Step): Policy[] => readableFrom(step.state.policies, beganAt(step));
