import * as fc from 'fast-check';
import type { Violation } from '../invariants/history.ts';
import { plans, roomy } from './arbitrary.ts';
import type { Bug } from './bugs.ts';
import { firstBeside } from './enumerate.ts';
import { judge } from './judge.ts';

/** The number of runs of which one must find each mistake; without a mistake, all pass. */
export const mostRunsPerBug = 1200;

/** How a mistake was found. */
export interface Caught {
  /** The invariants that the first failing run broke. */
  invariants: readonly string[];
  message: string;
  runs: number;
  milliseconds: number;
}

/**
 * Runs plans with the mistake until one breaks an invariant that names it; undefined if none does. A mistake that shows only in
 * comparison with another run is looked for in the journey that it names.
 */
export async function findBug(bug: Bug, mostRuns: number): Promise<Caught | undefined> {
  const { breaks, sabotage, beside } = bug;
  const fromMs = performance.now();
  if (beside) {
    const caught = await firstBeside(beside, breaks, sabotage);
    return caught && { ...caughtBy(breaks, caught.found), runs: caught.runs, milliseconds: performance.now() - fromMs };
  }
  let runs = 0;
  const byChance = fc.sample(plans(roomy), { seed: 1, numRuns: mostRuns });
  for (const plan of bug.plan ? [bug.plan, ...byChance] : byChance) {
    runs++;
    const { violations } = await judge(plan, sabotage);
    if (!violations.some(({ invariant }) => breaks.includes(invariant))) continue;
    return { ...caughtBy(breaks, violations), runs, milliseconds: performance.now() - fromMs };
  }
  return undefined;
}

const caughtBy = (breaks: readonly string[], violations: readonly Violation[]) => ({
  invariants: [...new Set(violations.map(({ invariant }) => invariant))],
  message: violations.find(({ invariant }) => breaks.includes(invariant))?.message ?? '',
});
