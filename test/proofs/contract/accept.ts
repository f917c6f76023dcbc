import type { Deviation } from './deviations.ts';
import type { Difference } from './differences.ts';

/** Tells accepted differences from others, and which entries of the list nothing needed. */
export class Accepted {
  readonly #patterns: { about: string; pattern: string; matches: RegExp; isUsed: boolean }[];

  constructor(deviations: readonly Deviation[]) {
    this.#patterns = deviations.flatMap(({ where }) =>
      Object.entries(where).flatMap(([about, patterns]) =>
        patterns.map((pattern) => ({ about, pattern, matches: patternOf(pattern), isUsed: false })),
      ),
    );
  }

  /** The differences of one case that no deviation allows. */
  refused(about: string, differences: readonly Difference[]): Difference[] {
    return differences.filter(({ at }) => {
      const allowed = this.#patterns.filter((entry) => entry.about === about && entry.matches.test(at));
      for (const entry of allowed) entry.isUsed = true;
      return allowed.length === 0;
    });
  }

  /** Entries that no difference needed: `case: path`. */
  unused(): string[] {
    return this.#patterns.filter((entry) => !entry.isUsed).map(({ about, pattern }) => `${about}: ${pattern}`);
  }
}

const patternOf = (pattern: string) => {
  const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('**', '\u0000').replaceAll('*', '[^.]*').replaceAll('\u0000', '.*')}$`);
};
