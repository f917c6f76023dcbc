import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { enumerate, replay } from './enumerate.ts';
import { journeys, longJourneys } from './journeys.ts';
import { search } from './search.ts';

// What functions log of faults that were put in is no news.
const log = vi.spyOn(console, 'error');
beforeAll(() => void log.mockImplementation(() => undefined));
afterAll(() => log.mockRestore());

/** The size at which mistakes are looked for (find-bug.ts): what finds them is silent where there is none. */
const size = { operations: 12, faults: 8, overtakings: 6 };

describe('every write, struck once in each way', () => {
  test.each(Object.entries(journeys).filter(([name]) => longJourneys.includes(name)))(
    '%s',
    async (_, plan) => {
      const { writes, violations } = await enumerate(plan);
      expect(writes).toBeGreaterThan(5);
      expect(violations).toEqual([]);
    },
    300_000,
  );
});

test('two hundred runs by chance break no invariant', async () => {
  const { runs, counterexample } = await search({ seed: 1, runs: 200 });
  expect(counterexample).toBeUndefined();
  expect(runs).toBe(200);
}, 600_000);

test('three hundred larger runs by chance break no invariant', async () => {
  const { runs, counterexample } = await search({ seed: 1, runs: 300, size });
  expect(counterexample).toBeUndefined();
  expect(runs).toBe(300);
}, 600_000);

describe('every event, brought again seven seconds later, changes nothing', () => {
  test.each(Object.entries(journeys))(
    '%s',
    async (_, plan) => {
      const { events, violations } = await replay(plan, 7);
      expect(events).toBeGreaterThan(20);
      expect(violations).toEqual([]);
    },
    300_000,
  );
});
