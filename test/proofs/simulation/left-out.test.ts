import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { FunctionDeclaration } from '../../../shared/function.ts';
import { plans } from './arbitrary.ts';
import { isLeftOut } from './left-out.ts';
import { type Plan, plainly } from './plan.ts';
import { simulate } from './simulate.ts';

// Functions log the injected faults.
const log = vi.spyOn(console, 'error');
beforeAll(() => void log.mockImplementation(() => undefined));
afterAll(() => log.mockRestore());

const names = ['compose-workspace', 'ensure-vmdi', 'provision-vm', 'preload'];
const leftOutOf = (plan: Plan) => names.filter((name) => isLeftOut(plan, name));
const sample = fc.sample(plans(), { seed: 5, numRuns: 30 }).filter((plan) => leftOutOf(plan).length > 0);

/** The functions that decide to do anything in this plan, when all of them run. */
async function deciders(plan: Plan): Promise<Set<string>> {
  const found = new Set<string>();
  const noting = (declaration: FunctionDeclaration): FunctionDeclaration => ({
    ...declaration,
    decide: (observed) => {
      const actions = declaration.decide(observed);
      if (actions.some((action) => action.do !== 'measure')) found.add(declaration.name);
      return actions;
    },
  });
  await simulate(plan, { runsAll: true, declarations: (all) => all.map(noting) }, true);
  return found;
}

test('what is left out of a plan decides nothing in it, whatever its faults and its order', async () => {
  expect(new Set(sample.flatMap(leftOutOf))).toEqual(new Set(names));
  for (const plan of sample) {
    const found = await deciders(plan);
    expect(leftOutOf(plan).filter((name) => found.has(name))).toEqual([]);
  }
}, 120_000);

test('the history is the same without what is left out, write for write, where neither order nor faults count its requests', async () => {
  const reading = sample.filter((plan) => leftOutOf(plan).includes('compose-workspace')).slice(0, 12);
  for (const { operations, seed } of reading) {
    // With sources: inspect-source says what it finds of each image, so that a run without it is another.
    const plan = plainly(operations, [], { seed, sources: [] });
    const [all, fewer] = [await simulate(plan, { runsAll: true }, true), await simulate(plan, {}, true)];
    expect(fewer.history.changes).toEqual(all.history.changes);
    expect(fewer.steps).toBeLessThan(all.steps);
  }
}, 120_000);
