import { isDeepStrictEqual } from 'node:util';

/** As a merge patch, what of a status is to change: null for what goes; undefined where all stands already. */
export function statusPatch(before: object | undefined, after: object): Record<string, unknown> | undefined {
  const old: Record<string, unknown> = { ...before };
  // What is undefined is not there at all; and a server may tell fields in another order.
  const next: Record<string, unknown> = JSON.parse(JSON.stringify(after));
  const changed = Object.entries(next).filter(([key, value]) => !isDeepStrictEqual(stored(old[key]), stored(value)));
  const gone = Object.keys(old).filter((key) => !(key in next) && old[key] !== null);
  if (changed.length === 0 && gone.length === 0) return undefined;
  return { ...Object.fromEntries(changed), ...Object.fromEntries(gone.map((key) => [key, null])) };
}

/** What is left of a value after a merge patch, which drops nulls within lists too: written for its nulls, it would be written for ever. */
const stored = (value: unknown) => JSON.parse(JSON.stringify(value ?? null), (_, each) => each ?? undefined);
