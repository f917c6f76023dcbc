import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeViolation } from '../invariants/check.ts';
import { enumerate } from './enumerate.ts';
import { crowd, journeys } from './journeys.ts';
import { judge } from './judge.ts';
import { readPlans } from './known-plans.ts';
import { search } from './search.ts';
import { simulate } from './simulate.ts';

// Functions log the injected faults.
const log = vi.spyOn(console, 'error');
beforeAll(() => void log.mockImplementation(() => undefined));
afterAll(() => log.mockRestore());

const patience = 120_000;

describe('a run', () => {
  test('is the same, write for write, each time its plan runs', async () => {
    const plan = journeys['an image is created and deleted'];
    const disorderly = { ...plan, order: { seed: 7, share: 1 }, seed: 7 };
    const [first, second] = [await simulate(disorderly), await simulate(disorderly)];
    expect(first.history.changes.length).toBeGreaterThan(20);
    expect(second.history).toEqual(first.history);
  });

  test('differs if its order differs', async () => {
    const plan = journeys['an image is created and deleted'];
    const histories = await Promise.all([1, 2].map((seed) => simulate({ ...plan, order: { seed, share: 1 } })));
    expect(histories[1]?.history.changes).not.toEqual(histories[0]?.history.changes);
  });

  test('comes to rest: images are Succeeded, and writing stops', async () => {
    const { history, isAtRest } = await simulate(journeys['two images, one slot']);
    expect(isAtRest).toBe(true);
    const phases = new Map(
      history.changes
        .filter(({ object }) => object.kind === 'VMDiskImage')
        .map(({ object }) => [object.metadata.name, (object as { status?: { phase?: string } }).status?.phase]),
    );
    expect(Object.fromEntries(phases)).toEqual({ a: 'Succeeded', b: 'Succeeded' });
  });
});

test('forty images and forty machines reach the limits of a process, and stay within them', async () => {
  const { run, violations } = await judge(crowd);
  expect(violations.map(describeViolation)).toEqual([]);
  const reconciles = run.history.reconciles ?? [];
  expect(Math.max(...reconciles.map(({ mostInFlight }) => mostInFlight))).toBe(32);
  expect(Math.max(...reconciles.map(({ mostWritesBegun }) => mostWritesBegun))).toBe(32);
});

describe.each([
  ['what the simulation once found', [...readPlans('found'), ...readPlans('misjudged')]],
  ['what real operators, users and backups do', readPlans('regressions')],
])('%s', (_, plans) => {
  test.each(plans)('$invariant: $what', async ({ plan }) => {
    const { violations } = await judge(plan);
    expect(violations.map(describeViolation)).toEqual([]);
  });
});

describe('a fault of each kind at every write', () => {
  test.each(Object.entries(journeys))(
    '%s',
    async (_, plan) => {
      const { writes, violations } = await enumerate(plan);
      expect(writes).toBeGreaterThan(5);
      expect(violations).toEqual([]);
    },
    patience,
  );
});

test.each(Object.entries(journeys))('with all events lost, timers alone finish it: %s', async (_, plan) => {
  const { violations, run } = await judge({ ...plan, isDeaf: true });
  expect(violations.map(describeViolation)).toEqual([]);
  expect(run.isAtRest).toBe(true);
});

test(
  'a hundred random runs break no invariant',
  async () => {
    const { runs, counterexample } = await search({ seed: 1, runs: 100 });
    expect(counterexample).toBeUndefined();
    expect(runs).toBe(100);
  },
  patience,
);

test('a stopped search starts no other run', async () => {
  const stop = new AbortController();
  const { runs } = await search({ seed: 1, runs: 100, signal: stop.signal, onRun: () => stop.abort() });
  expect(runs).toBe(1);
});
