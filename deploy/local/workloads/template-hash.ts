import { createHash } from 'node:crypto';
import type { Template } from './kinds.ts';

// The letters of apimachinery's SafeEncodeString: no vowels, nothing that reads like another.
const letters = 'bcdfghjklmnpqrstvwxz2456789';

/** What tells the Pods of one template from those of another: the same for the same template. */
export const hashOf = (template: Template) =>
  [...createHash('sha256').update(inOrder(template)).digest().subarray(0, 10)]
    .map((byte) => letters[byte % letters.length])
    .join('');

/** JSON in which the order of fields doesn't count. */
const inOrder = (value: unknown): string =>
  JSON.stringify(value, (_, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
