import { expect, test } from 'vitest';
import { loadFunctions } from '../../../knative/functions.ts';
import { at, aVMDiskImage } from '../../support/builders/images.ts';
import { aHistory, by, download, expectKept, granted, snapshot } from './a-history.ts';
import { check, describeViolation, invariants } from './check.ts';
import { functionNames } from './writers.ts';

const upTo = (letter: string, last: number) => Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);

test('every number of the reference is there once', () => {
  expect(invariants.map(({ number }) => number)).toEqual([...upTo('S', 18), ...upTo('L', 6), 'B1']);
});

test('every function that there is, is known by its name', async () => {
  const names = (await loadFunctions()).map(({ name }) => name);
  expect([...names].sort()).toEqual([...functionNames].sort());
});

const queued = aVMDiskImage({ status: { phase: 'Queued', revision: 1, attempt: 0, queuedAt: at(0) } });
const ready = (status: 'True' | 'False') => ({
  conditions: [{ type: 'Ready', status, reason: 'Some', message: '', lastTransitionTime: at(0) }],
});
const syncing = aVMDiskImage({
  status: { ...queued.status, phase: 'Syncing', attempt: 1, attempts: 1, ...ready('False') },
});
const snapshotting = aVMDiskImage({ status: { ...syncing.status, phase: 'Snapshotting' } });
const made = snapshot(syncing, { ready: true });
const succeeded = aVMDiskImage({
  status: {
    ...snapshotting.status,
    phase: 'Succeeded',
    snapshot: { name: made.metadata.name, revision: 1 },
    ...ready('True'),
  },
});

/** From nothing to Ready, each step by its owner. */
const goodLife = [
  by('user', aVMDiskImage()),
  by('start-sync', queued, { since: 101 }),
  by('start-sync', granted(), { since: 102 }),
  by('start-sync', granted(syncing), { since: 103 }),
  by('start-sync', syncing, { since: 103 }),
  by('start-sync', download(syncing, { phase: '' }), { since: 103 }),
  by('cdi', download(syncing, { phase: 'ImportInProgress' })),
  by('cdi', download(syncing, { phase: 'Succeeded' })),
  by('start-sync', granted(), { since: 108 }),
  by('follow-sync', snapshotting, { since: 108 }),
  by('follow-sync', snapshot(syncing)),
  by('snapshotter', made),
  by('follow-sync', succeeded, { since: 112 }),
  by('follow-sync', download(syncing, { phase: 'Succeeded' }), { since: 112, isGone: true }),
];

test('the life of an image as it is meant to be breaks nothing, still or not', () => {
  expectKept(aHistory(goodLife));
  expectKept(aHistory(goodLife, { stillFromMs: 0 }));
});

test('a change costs no more in a history twice as long, for a simulation asks of thousands of histories', () => {
  const looksOf = (lives: number) => {
    const history = aHistory(Array.from({ length: lives }, () => goodLife).flat(), { stillFromMs: 0 });
    const { counted, looks } = countingLooks(history);
    check(counted);
    return looks();
  };
  const few = looksOf(11);
  expect(few).toBeGreaterThan(11 * goodLife.length);
  expect(looksOf(22) / few).toBeLessThan(2.1);
});

/** The same, counting how often anything is read of it: work that no other work of the machine makes longer. */
function countingLooks<T extends object>(of: T): { counted: T; looks: () => number } {
  let looks = 0;
  const seen = new WeakMap<object, object>();
  const counting = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const known = seen.get(value);
    if (known) return known;
    const proxy = new Proxy(value, {
      get: (target, key) => {
        looks++;
        return counting(Reflect.get(target, key));
      },
    });
    seen.set(value, proxy);
    return proxy;
  };
  return { counted: counting(of) as T, looks: () => looks };
}

test('a violation is said in a line', () => {
  const [violation] = check(aHistory([by('start-sync', granted()), download(syncing)]));
  expect(violation && describeViolation(violation)).toMatch(/^S2 at revision 102: DataVolume ubuntu-/);
});
