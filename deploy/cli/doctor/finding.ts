/** Something that is not as it should be. */
export interface Finding {
  name: string;
  expected: string;
  found: string;
  cure: string;
}

/** What puts everything there that is shipped, and as it is shipped. */
export const upgrade = 'npm run cluster -- upgrade';

/** A type of condition of an object that is not True, in words; undefined where it is. */
export function untrue(object: { status?: unknown }, type: string): string | undefined {
  const { conditions } = (object.status ?? {}) as { conditions?: Condition[] | null };
  const found = conditions?.find((condition) => condition.type === type);
  if (found?.status === 'True') return undefined;
  if (!found) return `no word of ${type}`;
  return [`${type} is ${found.status}`, found.reason, found.message].filter(Boolean).join(': ');
}

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}
