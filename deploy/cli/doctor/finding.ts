import { type Condition, describeCondition } from '../install/readiness.ts';

/** A problem of the installation. */
export interface Finding {
  name: string;
  expected: string;
  found: string;
  remedy: string;
}

/** Restores every installed object as this release ships it. */
export const upgrade = 'ot-functions upgrade';

/** Describes a condition that is not True; undefined if it is True. */
export function untrue(object: { status?: unknown }, type: string): string | undefined {
  const { conditions } = (object.status ?? {}) as { conditions?: Condition[] | null };
  const found = conditions?.find((condition) => condition.type === type);
  if (found?.status === 'True') return undefined;
  if (!found) return `no word of ${type}`;
  return describeCondition(found);
}
