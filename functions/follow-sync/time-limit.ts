import { formatDuration } from '../../shared/kubernetes/duration.ts';
import { isValid } from '../../shared/policy.ts';
import type { Observed } from './observed.ts';

type Limit = 'startTimeout' | 'syncTimeout' | 'snapshotTimeout';

/** The limit in words, once it has passed. A value that does not parse sets no limit: its default may be shorter than what was meant. */
export const limitPassed = (
  { policy, nowMs }: Pick<Observed, 'policy' | 'nowMs'>,
  key: Limit,
  sinceMs: number,
): string | undefined =>
  isValid(policy, key) && nowMs - sinceMs >= policy.values[key]
    ? `${key} (${formatDuration(policy.values[key])})`
    : undefined;
