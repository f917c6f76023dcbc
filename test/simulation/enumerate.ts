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
export async function enumerate(plan: Plan): Promise<Enumeration> {
  const reference = await judge(plan);
  const violations = reference.violations.map((found) => `with nothing struck: ${sayViolation(found)}`);
  const { writes } = reference.run;
  for (let at = 0; at < writes; at++) {
    for (const kind of strikes) {
      const fault: Fault = { kind, at };
      const struck = await judge({ ...plan, faults: [...plan.faults, fault] });
      if (!struck.run.struck.has(fault)) violations.push(`${kind} write ${at} struck nothing`);
      const found = [...struck.violations, ...compare(reference.run.history, struck.run.history)];
      violations.push(...found.map((one) => `${kind} write ${at}: ${sayViolation(one)}`));
    }
  }
  return { writes, runs: 1 + writes * strikes.length, violations };
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
