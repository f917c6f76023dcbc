import { describeViolation } from '../invariants/check.ts';
import type { Verdict } from './judge.ts';
import type { Plan } from './plan.ts';
import { faultRows, operationRows, rowsOf } from './rows.ts';

export type Rows = Record<string, { runs: number; violations: number }>;

/** Many runs, counted. */
export interface Tally {
  runs: number;
  /** Of these, over an API server that checks no write. */
  thinRuns: number;
  /** By operation and by fault: the number of runs that had it, and of those that broke an invariant. */
  operations: Rows;
  faults: Rows;
  /** What a plan broke only over such an API server. */
  unconfirmed: { messages: string[]; plan: Plan }[];
}

export const emptyTally = (): Tally => ({
  runs: 0,
  thinRuns: 0,
  operations: emptyRows(operationRows),
  faults: emptyRows(faultRows),
  unconfirmed: [],
});

const emptyRows = (names: readonly string[]): Rows =>
  Object.fromEntries(names.map((name) => [name, { runs: 0, violations: 0 }]));

export function count(tally: Tally, plan: Plan, { run, violations, isThin, unconfirmed }: Verdict) {
  tally.runs++;
  if (isThin) tally.thinRuns++;
  if (unconfirmed) tally.unconfirmed.push({ messages: unconfirmed.map(describeViolation), plan });
  for (const name of rowsOf(plan, run)) {
    const row = tally.operations[name] ?? tally.faults[name];
    if (row) row.runs++;
    if (row && violations.length > 0) row.violations++;
  }
}

export function addTo(tally: Tally, more: Tally) {
  tally.runs += more.runs;
  tally.thinRuns += more.thinRuns;
  tally.unconfirmed.push(...more.unconfirmed);
  for (const table of ['operations', 'faults'] as const) {
    for (const [name, { runs, violations }] of Object.entries(more[table])) {
      const row = tally[table][name];
      if (!row) continue;
      row.runs += runs;
      row.violations += violations;
    }
  }
}
