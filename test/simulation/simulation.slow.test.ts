import { expect, test } from 'vitest';
import { search } from './search.ts';

test('a thousand larger runs by chance break no invariant', async () => {
  const size = { operations: 12, faults: 8, overtakings: 6 };
  const { runs, counterexample } = await search({ seed: 1, runs: 1000, size });
  expect(counterexample).toBeUndefined();
  expect(runs).toBe(1000);
}, 600_000);
