import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { roomy } from './arbitrary.ts';
import { replay } from './enumerate.ts';
import { journeys } from './journeys.ts';
import { search } from './search.ts';

// Functions log the injected faults.
const log = vi.spyOn(console, 'error');
beforeAll(() => void log.mockImplementation(() => undefined));
afterAll(() => log.mockRestore());

test('two hundred random runs break no invariant', async () => {
  const { runs, counterexample } = await search({ seed: 2, runs: 200 });
  expect(counterexample).toBeUndefined();
  expect(runs).toBe(200);
}, 600_000);

test('three hundred larger random runs break no invariant', async () => {
  const { runs, counterexample } = await search({ seed: 1, runs: 300, size: roomy });
  expect(counterexample).toBeUndefined();
  expect(runs).toBe(300);
}, 600_000);

describe('every event, delivered again seven seconds later, changes nothing', () => {
  test.each(Object.entries(journeys))(
    '%s',
    async (_, plan) => {
      const { events, violations } = await replay(plan, 7);
      expect(events).toBeGreaterThan(10);
      expect(violations).toEqual([]);
    },
    300_000,
  );
});
