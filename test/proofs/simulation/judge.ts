import { check } from '../invariants/check.ts';
import type { Violation } from '../invariants/history.ts';
import type { Plan } from './plan.ts';
import { type Run, type Sabotage, simulate } from './simulate.ts';

/** A run and its violations. */
export interface Verdict {
  run: Run;
  violations: readonly Violation[];
}

/** Runs the plan and judges it; a run that never comes to rest breaks at least L1. */
export async function judge(plan: Plan, sabotage?: Sabotage): Promise<Verdict> {
  const run = await simulate(plan, sabotage);
  const violations = check(run.history);
  if (run.isAtRest || violations.length > 0) return { run, violations };
  const message = `the run was not at rest after ${run.steps} steps (functions wrote ${run.writes} times before the faults ended)`;
  return { run, violations: [{ invariant: 'L1', revision: '', message }] };
}
