import { readFileSync } from 'node:fs';
import { faultKinds, operationKinds } from './arbitrary.ts';
import { type Plan, plainly } from './plan.ts';

/** A plan that once broke an invariant, as small as possible. */
export interface KnownPlan {
  invariant: string;
  what: string;
  plan: Plan;
}

/**
 * `found` by the simulation; `misjudged` by an invariant or by the simulation itself; `regressions` are what real operators, users
 * and backups do to images. All are fixed. The files hold one of them a line, with the plan as the simulation prints it.
 */
export function readPlans(name: 'found' | 'misjudged' | 'regressions'): KnownPlan[] {
  const file = new URL(`../fixtures/simulation/${name}.jsonl`, import.meta.url);
  return readFileSync(file, 'utf8').trimEnd().split('\n').map(knownPlan);
}

function knownPlan(line: string): KnownPlan {
  const { invariant, what, plan }: { invariant: string; what: string; plan: Partial<Plan> } = JSON.parse(line);
  const { operations = [], faults = [], ...more } = plan;
  const unknown = [
    ...operations.map((operation) => operation.do).filter((kind) => !operationKinds.includes(kind)),
    ...faults.map(({ kind }) => kind).filter((kind) => !faultKinds.includes(kind)),
  ];
  if (unknown.length > 0)
    throw new Error(`"${what}": no operation or fault is called ${unknown.join(', ')}; rename it`);
  return { invariant, what, plan: plainly(operations, faults, more) };
}
