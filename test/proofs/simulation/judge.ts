import { check } from '../invariants/check.ts';
import type { Violation } from '../invariants/history.ts';
import type { Plan } from './plan.ts';
import { type Run, type Sabotage, simulate } from './simulate.ts';

/** A run and what it breaks. */
export interface Verdict {
  run: Run;
  violations: readonly Violation[];
}

/** Runs the plan and judges it; where nothing else is broken a run that never comes to rest breaks L1. */
export async function judge(plan: Plan, sabotage?: Sabotage): Promise<Verdict> {
  const run = await simulate(plan, sabotage);
  const violations = check(run.history);
  if (run.isAtRest || violations.length > 0) return { run, violations };
  const message = `things were still happening when the run was broken off after ${run.steps} steps (functions wrote ${run.writes} times before everything was healed)`;
  return { run, violations: [{ invariant: 'L1', revision: '', message }] };
}
