import { seeded } from '../../../deploy/local/seeded.ts';
import { compare, describeViolation } from '../invariants/check.ts';
import type { Violation } from '../invariants/history.ts';
import { judge, judgeQuickly, type Verdict } from './judge.ts';
import type { Fault, Plan } from './plan.ts';
import type { Sabotage } from './simulate.ts';

const writeFaults = ['crashBefore', 'crashAfter', 'answerLost'] as const satisfies readonly Fault['kind'][];

/** The result of injecting a fault at every write of a journey. */
export interface Enumeration {
  /** The writes of the run without a fault. */
  writes: number;
  runs: number;
  /** As text, with the write and its fault. */
  violations: string[];
}

/**
 * Runs the plan without a fault, then once for each of its writes and each fault: every invariant holds, and every run ends in the
 * same state (after Sieve).
 */
export const enumerate = (plan: Plan): Promise<Enumeration> => injectEach(plan, writeFaultsOn);

/** The same with this many writes, chosen by the seed, each with one fault: for a journey with too many writes. */
export function sample(plan: Plan, { seed, runs }: { seed: number; runs: number }): Promise<Enumeration> {
  const random = seeded(seed);
  const below = (most: number) => Math.floor(random() * most);
  return injectEach(plan, (writes) =>
    Array.from({ length: runs }, () => ({
      kind: writeFaults[below(writeFaults.length)] ?? 'crashBefore',
      at: below(writes),
    })),
  );
}

type WriteFault = Extract<Fault, { kind: (typeof writeFaults)[number] }>;

async function injectEach(plan: Plan, faultsOf: (writes: number) => readonly WriteFault[]): Promise<Enumeration> {
  const reference = await judge(plan);
  const violations = reference.violations.map((found) => `without a fault: ${describeViolation(found)}`);
  const { writes } = reference.run;
  const faults = faultsOf(writes);
  for await (const { fault, wasInjected, found } of beside(reference, plan, faults)) {
    if (!wasInjected) violations.push(`${fault.kind} write ${fault.at} was not injected`);
    violations.push(...found.map((one) => `${fault.kind} write ${fault.at}: ${describeViolation(one)}`));
  }
  return { writes, runs: 1 + faults.length, violations };
}

/** Runs the plan, then once for each of its events with that event delivered again later, which must change nothing (S16). */
export async function replay(plan: Plan, seconds: number): Promise<Omit<Enumeration, 'writes'> & { events: number }> {
  const reference = await judge(plan);
  const violations = reference.violations.map((found) => `with no event delivered again: ${describeViolation(found)}`);
  const { events } = reference.run;
  for await (const { fault, wasInjected, found } of beside(reference, plan, againAll(events, seconds))) {
    if (!wasInjected) violations.push(`event ${fault.at} was not delivered again`);
    violations.push(...found.map((one) => `event ${fault.at} again after ${seconds} s: ${describeViolation(one)}`));
  }
  return { events, runs: 1 + events, violations };
}

/** Runs a mistake with one fault each, until a run breaks one of these invariants that the run without a fault keeps. */
export async function firstBeside(
  { plan, by }: Besides,
  breaks: readonly string[],
  sabotage: Sabotage,
): Promise<{ runs: number; found: readonly Violation[] } | undefined> {
  const reference = await judge(plan, sabotage);
  const { writes, events } = reference.run;
  const faults: readonly (WriteFault | Again)[] = by === 'replay' ? againAll(events, 7) : writeFaultsOn(writes);
  let runs = 1;
  for await (const { found } of beside(reference, plan, faults, sabotage)) {
    runs++;
    if (found.some(({ invariant }) => breaks.includes(invariant))) return { runs, found };
  }
  return undefined;
}

/** A journey with a fault at every write, or with every event delivered again. */
export interface Besides {
  plan: Plan;
  by: 'writeFaults' | 'replay';
}

const writeFaultsOn = (writes: number): WriteFault[] =>
  Array.from({ length: writes }, (_, at) => writeFaults.map((kind) => ({ kind, at }))).flat();

const againAll = (events: number, seconds: number): Again[] =>
  Array.from({ length: events }, (_, at) => ({ kind: 'eventDoubled', at, seconds }));

type Again = Extract<Fault, { kind: 'eventDoubled' }>;

/** One run for each fault, and what it breaks by itself or compared with the run without it. */
async function* beside<F extends WriteFault | Again>(
  reference: Verdict,
  plan: Plan,
  faults: readonly F[],
  sabotage?: Sabotage,
) {
  for (const [index, fault] of faults.entries()) {
    const { run, violations } = await judgeQuickly({ ...plan, faults: [...plan.faults, fault] }, sabotage, index);
    const isReplay = fault.kind === 'eventDoubled';
    const compared = compare(reference.run.history, run.history, { isReplay });
    yield { fault, wasInjected: run.injected.has(fault), found: [...violations, ...compared] };
  }
}
