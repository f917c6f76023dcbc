import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { invariants } from '../invariants/check.ts';
import { bugs } from './bugs.ts';
import { findBug, mostRunsPerBug } from './find-bug.ts';

// What functions log of faults that were put in is no news.
const log = vi.spyOn(console, 'error');
beforeAll(() => void log.mockImplementation(() => undefined));
afterAll(() => log.mockRestore());

test('there are twenty mistakes at least, each another', () => {
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
  expect(bugs.length).toBeGreaterThanOrEqual(20);
});

test('each invariant is named by one of them', () => {
  const named = new Set(bugs.flatMap(({ breaks }) => breaks));
  expect(invariants.map(({ number }) => number).filter((number) => !named.has(number))).toEqual([]);
});

test.each(bugs)(
  'it is found where $name',
  async (bug) => {
    expect(await findBug(bug, mostRunsPerBug)).toBeDefined();
  },
  300_000,
);
