import { check } from '../invariants/check.ts';
import type { Violation } from '../invariants/history.ts';
import type { Plan } from './plan.ts';
import { type Run, type Sabotage, simulate } from './simulate.ts';

/** A run and its violations. */
export interface Verdict {
  run: Run;
  violations: readonly Violation[];
  isThin: boolean;
  /** What the plan broke over a thin API server, and not over a full one. */
  unconfirmed?: readonly Violation[];
}

/** Runs the plan and judges it; a run that never comes to rest breaks at least L1. */
export async function judge(plan: Plan, sabotage?: Sabotage, isThin = false): Promise<Verdict> {
  const run = await simulate(plan, sabotage, isThin);
  const violations = check(run.history);
  if (run.isAtRest || violations.length > 0) return { run, violations, isThin };
  const message = `the run was not at rest after ${run.steps} steps (functions wrote ${run.writes} times before the faults ended)`;
  return { run, violations: [{ invariant: 'L1', revision: '', message }], isThin };
}

/**
 * Judges all but every twentieth plan over a thin API server, by the number that the plan has, so that it is judged in the same way each time.
 * What a plan breaks there counts if it also breaks it over a full one.
 */
export async function judgeQuickly(plan: Plan, sabotage?: Sabotage, number = plan.seed): Promise<Verdict> {
  const verdict = await judge(plan, sabotage, number % 20 !== 0);
  if (!verdict.isThin || verdict.violations.length === 0) return verdict;
  const confirmed = await judge(plan, sabotage);
  return confirmed.violations.length > 0 ? confirmed : { ...confirmed, unconfirmed: verdict.violations };
}
