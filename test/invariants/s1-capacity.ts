import type { Invariant } from './follow.ts';
import { grantOf } from './grant.ts';
import { isReadable } from './plain-policy.ts';
import { readableFrom } from './policies.ts';

/**
 * S1, capacity: a write that gives a slot leaves no more holders than a limit that its pass may have read. A lowered limit
 * turns nobody out; a Lease that was lost is rebuilt with whoever downloads (reliability §2; DESIGN §5).
 */
export const s1Capacity: Invariant = {
  number: 'S1',
  says: 'whoever gets a slot fits into the limit',
  judge: () => ({
    lease: (step) => {
      const grant = grantOf(step);
      if (!grant) return undefined;
      const limits = readableFrom(step.state.policies, grant.began)
        .filter((policy) => isReadable(policy, 'concurrency'))
        .map(({ values }) => values.concurrency);
      const limit = Math.max(0, ...limits);
      if (grant.slots.size <= limit) return undefined;
      return `${grant.slots.size} hold slots, allowed were ${limit}; let in: ${grant.added.map(({ image }) => image).join(', ')}`;
    },
  }),
};
