import * as fc from 'fast-check';
import { plans, roomy } from './arbitrary.ts';
import type { Bug } from './bugs.ts';
import { judge } from './judge.ts';

/** Of so many runs one has to find each mistake; with none in, all of them pass. */
export const mostRunsPerBug = 1200;

/** How a mistake was found. */
export interface Caught {
  /** The invariants that its first breach broke. */
  invariants: readonly string[];
  says: string;
  runs: number;
  milliseconds: number;
}

/** Runs plans with the mistake in until one breaks an invariant that names it; undefined where none of so many does. */
export async function findBug({ breaks, sabotage }: Bug, mostRuns: number, seed = 1): Promise<Caught | undefined> {
  const fromMs = performance.now();
  let runs = 0;
  for (const plan of fc.sample(plans(roomy), { seed, numRuns: mostRuns })) {
    runs++;
    const { violations } = await judge(plan, sabotage);
    const first = violations.find(({ invariant }) => breaks.includes(invariant));
    if (!first) continue;
    const invariants = [...new Set(violations.map(({ invariant }) => invariant))];
    return { invariants, says: first.says, runs, milliseconds: performance.now() - fromMs };
  }
  return undefined;
}
