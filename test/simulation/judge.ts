import { check } from '../invariants/check.ts';
import type { Violation } from '../invariants/history.ts';
import type { Plan } from './plan.ts';
import { type Run, type Sabotage, simulate } from './simulate.ts';

/** A run and what it breaks. */
export interface Verdict {
  run: Run;
  violations: readonly Violation[];
}

/** Runs the plan and judges it; whoever never falls silent breaks L1, whatever else is so. */
export async function judge(plan: Plan, sabotage?: Sabotage): Promise<Verdict> {
  const run = await simulate(plan, sabotage);
  const violations = check(run.history);
  if (run.isAtRest || violations.length > 0) return { run, violations };
  const says = `functions were still writing two hours after everything was healed (${run.writes} writes so far)`;
  return { run, violations: [{ invariant: 'L1', revision: '', says }] };
}
