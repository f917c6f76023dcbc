import { isDeepStrictEqual } from 'node:util';

/** One place at which two answers are not the same. */
export interface Difference {
  /** `3.body.metadata.name`: the step, counted from 0, and the path in its answer. */
  at: string;
  recorded: unknown;
  found: unknown;
}

/** Where `found` is not what was `recorded`, as deep down as it can be said. */
export function differences(recorded: unknown, found: unknown, at = ''): Difference[] {
  if (isDeepStrictEqual(recorded, found)) return [];
  if (isPlain(recorded) && isPlain(found)) {
    const names = [...new Set([...Object.keys(recorded), ...Object.keys(found)])];
    return names.flatMap((name) => differences(recorded[name], found[name], at ? `${at}.${name}` : name));
  }
  if (Array.isArray(recorded) && Array.isArray(found) && recorded.length === found.length) {
    return recorded.flatMap((element, index) => differences(element, found[index], at ? `${at}.${index}` : `${index}`));
  }
  return [{ at, recorded, found }];
}

type Fields = Record<string, unknown>;

const isPlain = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
