import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { b1Bounded } from '../invariants/b1-bounded.ts';
import { s19Tenancy } from '../invariants/s19-tenancy.ts';
import { s21Refreshed } from '../invariants/s21-refreshed.ts';
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
    // A mistake in cost breaks nothing else, and neither does one in tenancy or in refresh.
    for (const { number } of [b1Bounded, s19Tenancy, s21Refreshed])
      if (bug.breaks.includes(number)) expect(caught?.invariants).toEqual([number]);
  },
  300_000,
);
