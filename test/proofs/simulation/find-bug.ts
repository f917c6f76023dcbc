import * as fc from 'fast-check';
import type { Violation } from '../invariants/history.ts';
import { plans, roomy } from './arbitrary.ts';
import type { Bug } from './bugs.ts';
import { firstBeside } from './enumerate.ts';
import { judge } from './judge.ts';

/** Of so many runs one has to find each mistake; with none in, all of them pass. */
export const mostRunsPerBug = 1200;

/** How a mistake was found. */
export interface Caught {
  /** The invariants that its first breach broke. */
  invariants: readonly string[];
  message: string;
  runs: number;
  milliseconds: number;
}

/**
 * Runs plans with the mistake in until one breaks an invariant that names it; undefined where none of so many does. What shows only
 * beside another run is looked for in the journey that the mistake names.
 */
export async function findBug(bug: Bug, mostRuns: number, seed = 1): Promise<Caught | undefined> {
  const { breaks, sabotage, beside } = bug;
  const fromMs = performance.now();
  if (beside) {
    const caught = await firstBeside(beside, breaks, sabotage);
    return caught && { ...caughtBy(breaks, caught.found), runs: caught.runs, milliseconds: performance.now() - fromMs };
  }
  let runs = 0;
  const byChance = fc.sample(plans(roomy), { seed, numRuns: mostRuns });
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
