import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { b1Bounded } from '../invariants/b1-bounded.ts';
import { bugs } from './bugs.ts';
import { findBug, mostRunsPerBug } from './find-bug.ts';

// Functions log the injected faults.
const log = vi.spyOn(console, 'error');
beforeAll(() => void log.mockImplementation(() => undefined));
afterAll(() => log.mockRestore());

test.each(bugs)(
  'it is found where $name',
  async (bug) => {
    const caught = await findBug(bug, mostRunsPerBug);
    expect(caught).toBeDefined();
    // A mistake that costs too much breaks nothing else.
    if (bug.breaks.includes(b1Bounded.number)) expect(caught?.invariants).toEqual([b1Bounded.number]);
  },
  300_000,
);
