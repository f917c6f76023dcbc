import { describeViolation } from '../invariants/check.ts';
import { roomy, type Size, usual } from './arbitrary.ts';
import { bugs } from './bugs.ts';
import { type Enumeration, enumerate, sample } from './enumerate.ts';
import { type Caught, findBug, mostRunsPerBug } from './find-bug.ts';
import { journeys, largeJourneys } from './journeys.ts';
import type { Plan } from './plan.ts';
import { search } from './search.ts';
import { count, emptyTally, type Tally } from './tally.ts';

/** A part of a campaign, for a single thread. */
export type Task =
  /** Injects a fault at every write of a journey, or at that many of a large one. */
  | { do: 'inject'; journey: keyof typeof journeys }
  | { do: 'injectSome'; journey: keyof typeof largeJourneys; seed: number; runs: number }
  /** Looks for a mistake. */
  | { do: 'find'; mistake: string }
  /** Runs the plans of a seed, until one breaks an invariant or that time (in milliseconds since 1970). */
  | { do: 'search'; seed: number; runs: number; untilMs: number };

export interface Searched {
  tally: Tally;
  broken?: { messages: string[]; plan: Plan; seed: number; path: string };
}

interface Answers {
  inject: Enumeration;
  injectSome: Enumeration;
  find: Caught | undefined;
  search: Searched;
}
export type Answer<T extends Task> = Answers[T['do']];

/** Messages to and from a task that takes long. */
export interface Around {
  signal: Pick<AbortSignal, 'aborted'>;
  ran(): void;
}

/** Alternating sizes, so that small and large runs get their share. */
const sizes: readonly Size[] = [usual, roomy, { operations: 20, faults: 14, overtakings: 10 }];

export async function perform(task: Task, { signal, ran }: Around): Promise<Answer<Task>> {
  switch (task.do) {
    case 'inject':
      return enumerate(journeys[task.journey]);
    case 'injectSome':
      return sample(largeJourneys[task.journey], task);
    case 'find': {
      const bug = bugs.find(({ name }) => name === task.mistake);
      return bug && findBug(bug, mostRunsPerBug);
    }
    case 'search': {
      const { seed, runs } = task;
      const size = sizes[seed % sizes.length] ?? usual;
      const untilMs = performance.now() + task.untilMs - Date.now();
      const tally = emptyTally();
      const onRun: Parameters<typeof search>[0]['onRun'] = (plan, verdict) => {
        count(tally, plan, verdict);
        ran();
      };
      const { counterexample } = await search({ seed, runs, size, untilMs, signal, onRun });
      if (!counterexample) return { tally };
      const { plan, path, violations } = counterexample;
      return { tally, broken: { messages: violations.map(describeViolation), plan, seed, path } };
    }
  }
}
