import * as fc from 'fast-check';
import type { Violation } from '../invariants/history.ts';
import { plans, type Size, usual } from './arbitrary.ts';
import { judgeQuickly, type Verdict } from './judge.ts';
import type { Plan } from './plan.ts';
import type { Sabotage } from './simulate.ts';

export interface Search {
  /** The same seed produces the same plans. */
  seed: number;
  runs: number;
  size?: Size;
  sabotage?: Sabotage;
  /** No plan starts after that time, or after the signal. */
  untilMs?: number;
  signal?: Pick<AbortSignal, 'aborted'>;
  /** Receives each run. */
  onRun?(plan: Plan, verdict: Verdict): void;
}

/** The result of a search. */
export interface Found {
  runs: number;
  /** The first plan that broke an invariant, shrunk, and its violations; absent if none did. */
  counterexample?: { plan: Plan; violations: readonly Violation[]; path: string };
}

/** Runs random plans until one breaks an invariant, then shrinks that plan. */
export async function search({ seed, runs, size = usual, sabotage, untilMs, signal, onRun }: Search): Promise<Found> {
  let ran = 0;
  let broken: { plan: Plan; violations: readonly Violation[] } | undefined;
  const property = fc.asyncProperty(plans(size), async (plan) => {
    if (signal?.aborted) return true;
    const verdict = await judgeQuickly(plan, sabotage);
    if (!broken) {
      ran++;
      onRun?.(plan, verdict);
    }
    if (verdict.violations.length === 0) return true;
    broken = { plan, violations: verdict.violations };
    return false;
  });
  const left = untilMs === undefined ? {} : { interruptAfterTimeLimit: Math.max(1, untilMs - performance.now()) };
  const { counterexamplePath: path } = await fc.check(property, { seed, numRuns: runs, ...left });
  return { runs: ran, ...(broken ? { counterexample: { ...broken, path: path ?? '' } } : {}) };
}
