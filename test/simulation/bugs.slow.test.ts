import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { bugs } from './bugs.ts';
import { findBug } from './find-bug.ts';

// What functions log of faults that were put in is no news.
const log = vi.spyOn(console, 'error');
beforeAll(() => void log.mockImplementation(() => undefined));
afterAll(() => log.mockRestore());

/** Of so many runs one has to find each mistake; with none in, all of them pass (simulation.slow.test.ts). */
const mostRuns = 1200;

test('there are twenty mistakes at least, each another', () => {
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
  expect(bugs.length).toBeGreaterThanOrEqual(20);
});

test.each(bugs)(
  'it is found where $name',
  async (bug) => {
    expect(await findBug(bug, mostRuns)).toBeDefined();
  },
  300_000,
);
