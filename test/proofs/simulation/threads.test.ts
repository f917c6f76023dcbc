import { afterAll, beforeAll, expect, test } from 'vitest';
import { Threads } from './threads.ts';

let threads: Threads;
beforeAll(() => {
  threads = new Threads(2);
});
afterAll(() => threads.end());

const patience = 120_000;
const search = { do: 'search', runs: 2, untilMs: Date.now() + 600_000 } as const;

test(
  'a seed has the same runs in every thread, and another seed has others',
  async () => {
    const [first, same] = await Promise.all([1, 1].map((seed) => threads.run({ ...search, seed })));
    expect(first?.tally.runs).toBe(2);
    expect(same).toEqual(first);
    expect(await threads.run({ ...search, seed: 4 })).not.toEqual(first);
    expect(threads.runs).toBe(6);
  },
  patience,
);

test(
  'a thread finds a mistake and injects the faults of a journey',
  async () => {
    const mistake = 'a machine is never created in KubeVirt';
    const journey = 'an image is created and deleted';
    const [caught, injected] = await Promise.all([
      threads.run({ do: 'find', mistake }),
      threads.run({ do: 'inject', journey }),
    ]);
    expect(caught?.invariants).toContain('L6');
    expect(injected.violations).toEqual([]);
    expect(injected.writes).toBeGreaterThan(5);
  },
  patience,
);

test(
  'a search in a thread ends soon after it was stopped',
  async () => {
    const ran = threads.runs;
    const searched = threads.run({ ...search, seed: 1, runs: 100_000 });
    await expect.poll(() => threads.runs, { timeout: patience }).toBeGreaterThan(ran);
    threads.stop();
    expect((await searched).tally.runs).toBeLessThan(100_000);
  },
  patience,
);
