import { isDeepStrictEqual } from 'node:util';
import { type Difference, differences } from '../proofs/contract/differences.ts';
import type { Told } from './contract-run.ts';

/**
 * Where answers are not those that were recorded. A look at the real services may come too late for a short state: of what was
 * seen while waiting a simulator, which is never too late, has to show all that was recorded and in that order, and the real
 * ones are held to the order of what both saw.
 */
export function differencesOf(
  recorded: readonly Told[] | undefined,
  found: readonly Told[],
  isReal = false,
): Difference[] {
  const plain = (told: readonly Told[] | undefined) => told?.map(({ seen: _, ...rest }) => rest);
  const waits = found.flatMap(({ seen }, index): Difference[] => {
    const expected = recorded?.[index]?.seen ?? [];
    const isSame =
      seen === undefined || areInOrder(isReal ? expected.filter((each) => isAmong(seen, each)) : expected, seen);
    return isSame ? [] : [{ at: `${index}.seen`, recorded: expected, found: seen }];
  });
  return [...differences(byName(plain(recorded)), byName(plain(found))), ...waits];
}

/** Roles by their names alone: in which order a service lists them, and which ids they have, differs with each installation. */
function byName(value: unknown, key = ''): unknown {
  // What a step picks is named by its whole path.
  if (Array.isArray(value))
    return /(^|\.)roles$/.test(key) ? value.map(nameOf).sort() : value.map((inner) => byName(inner));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, byName(inner, name)]));
}

const nameOf = (role: unknown) => (typeof role === 'object' ? (role as { name?: string } | null)?.name : role);

/** Whether both end alike, and all that was expected was seen in that order. */
export function areInOrder(expected: readonly unknown[], seen: readonly unknown[]): boolean {
  let from = 0;
  const isWithin = expected.every((each) => {
    const at = seen.findIndex((other, index) => index >= from && isDeepStrictEqual(each, other));
    from = at + 1;
    return at >= 0;
  });
  return isWithin && isDeepStrictEqual(expected.at(-1), seen.at(-1));
}

const isAmong = (seen: readonly unknown[], one: unknown) => seen.some((each) => isDeepStrictEqual(each, one));
