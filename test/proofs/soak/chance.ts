import { seeded } from '../../../deploy/local/seeded.ts';

/** Random numbers, the same for the same seed. */
export interface Chance {
  /** A whole number from 0 to `count` - 1. */
  below(count: number): number;
  /** A number between these two. */
  between(least: number, most: number): number;
  oneOf<T>(values: readonly [T, ...T[]]): T;
  /** True with this percentage. */
  percent(share: number): boolean;
  shuffled<T>(values: readonly T[]): T[];
}

/** A separate sequence for each number. */
export function chanceOf(seed: number, number = 0): Chance {
  const random = seeded(seed * 1_000_003 + number);
  const below = (count: number) => Math.floor(random() * count);
  return {
    below,
    between: (least, most) => least + random() * (most - least),
    oneOf: (values) => values[below(values.length)] ?? values[0],
    percent: (share) => random() * 100 < share,
    shuffled: (values) =>
      values
        .map((value) => ({ value, at: random() }))
        .sort((a, b) => a.at - b.at)
        .map(({ value }) => value),
  };
}
