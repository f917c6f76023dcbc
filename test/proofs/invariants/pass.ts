import type { Step } from './follow.ts';
import type { Policy } from './plain-policy.ts';
import { readableFrom } from './policies.ts';

/** So long a pass takes at most. */
export const longestPassMs = 5000;

/** When the pass behind a change began to read, by its resourceVersion where that is known, else by the clock. */
export const beganAt = ({ change }: Step) => ({ revision: change.since, ms: change.atMs - longestPassMs });

/** The pass that wrote this began to read before something that happened then. */
export function beganBefore(step: Step, then: { revision: number; ms: number }): boolean {
  const { revision, ms } = beganAt(step);
  return revision === undefined ? ms < then.ms : revision < then.revision;
}

/** The pass that wrote this found the object: it was there when the pass began. */
export const wasThere = (step: Step, uid: string) => {
  const times = step.state.times.get(uid);
  return times !== undefined && !beganBefore(step, { revision: times.bornRevision, ms: times.bornMs });
};

/** The pass that wrote this found the object as it still is. */
export const wasSo = (step: Step, uid: string) => {
  const times = step.state.times.get(uid);
  return times !== undefined && !beganBefore(step, times);
};

/** Every policy that the pass behind a change may have read. */
export const policiesOf = (step: Step): Policy[] => readableFrom(step.state.policies, beganAt(step));
