import { seeded } from '../../deploy/local/seeded.ts';
import { compare, sayViolation } from '../invariants/check.ts';
import { judge } from './judge.ts';
import type { Fault, Plan } from './plan.ts';

/** What can happen to a write. */
export const strikes = ['crashBefore', 'crashAfter', 'answerLost'] as const satisfies readonly Fault['kind'][];

/** What came of striking every write of a journey. */
export interface Enumeration {
  /** Writes of the run in which nothing is struck. */
  writes: number;
  runs: number;
  /** In words, with the write and what happened to it. */
  violations: string[];
}

/**
 * The plan as it is, then once for each of its writes and each thing that can happen to it: every invariant holds, and all
 * comes to the same end (reliability reference §4.4, after Sieve).
 */
export const enumerate = (plan: Plan): Promise<Enumeration> =>
  strike(plan, (writes) => Array.from({ length: writes }, (_, at) => strikes.map((kind) => ({ kind, at }))).flat());

/** The same with so many of its writes, drawn by the seed, each struck in one way: for a journey too large to strike all. */
export function sample(plan: Plan, { seed, runs }: { seed: number; runs: number }): Promise<Enumeration> {
  const random = seeded(seed);
  const below = (most: number) => Math.floor(random() * most);
  return strike(plan, (writes) =>
    Array.from({ length: runs }, () => ({ kind: strikes[below(strikes.length)] ?? 'crashBefore', at: below(writes) })),
  );
}

type Strike = Extract<Fault, { kind: (typeof strikes)[number] }>;

async function strike(plan: Plan, strikesOf: (writes: number) => readonly Strike[]): Promise<Enumeration> {
  const reference = await judge(plan);
  const violations = reference.violations.map((found) => `with nothing struck: ${sayViolation(found)}`);
  const { writes } = reference.run;
  const faults = strikesOf(writes);
  for (const fault of faults) {
    const struck = await judge({ ...plan, faults: [...plan.faults, fault] });
    if (!struck.run.struck.has(fault)) violations.push(`${fault.kind} write ${fault.at} struck nothing`);
    const found = [...struck.violations, ...compare(reference.run.history, struck.run.history)];
    violations.push(...found.map((one) => `${fault.kind} write ${fault.at}: ${sayViolation(one)}`));
  }
  return { writes, runs: 1 + faults.length, violations };
}

/** The plan as it is, then once for each of its events with that one brought again somewhat later, which is to change nothing (S16). */
export async function replay(plan: Plan, seconds: number): Promise<Omit<Enumeration, 'writes'> & { events: number }> {
  const reference = await judge(plan);
  const violations = reference.violations.map((found) => `with nothing brought again: ${sayViolation(found)}`);
  const { events } = reference.run;
  for (let at = 0; at < events; at++) {
    const fault: Fault = { kind: 'eventDoubled', at, seconds };
    const again = await judge({ ...plan, faults: [...plan.faults, fault] });
    if (!again.run.struck.has(fault)) violations.push(`event ${at} was not brought again`);
    const found = [...again.violations, ...compare(reference.run.history, again.run.history, { isReplay: true })];
    violations.push(...found.map((one) => `event ${at} again after ${seconds} s: ${sayViolation(one)}`));
  }
  return { events, runs: 1 + events, violations };
}
