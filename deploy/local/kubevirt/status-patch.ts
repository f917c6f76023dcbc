import { isDeepStrictEqual } from 'node:util';

/** As a merge patch, what of a status is to change: null for what goes; undefined where all stands already. */
export function statusPatch(before: object | undefined, after: object): Record<string, unknown> | undefined {
  const old: Record<string, unknown> = { ...before };
  // What is undefined is not there at all; and a server may tell fields in another order.
  const next: Record<string, unknown> = JSON.parse(JSON.stringify(after));
  const changed = Object.entries(next).filter(([key, value]) => !isDeepStrictEqual(old[key], value));
  const gone = Object.keys(old).filter((key) => !(key in next) && old[key] !== null);
  if (changed.length === 0 && gone.length === 0) return undefined;
  return { ...Object.fromEntries(changed), ...Object.fromEntries(gone.map((key) => [key, null])) };
}
