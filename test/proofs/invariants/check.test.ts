import { expect, test } from 'vitest';
import { loadFunctions } from '../../../knative/functions.ts';
import { at, aVMDiskImage } from '../../support/builders/images.ts';
import { aHistory, by, download, expectHolds, granted, snapshot } from './a-history.ts';
import { check, describeViolation, invariants } from './check.ts';
import { functionNames } from './writers.ts';

const upTo = (letter: string, last: number) => Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);

test('every invariant is listed once', () => {
  expect(invariants.map(({ number }) => number)).toEqual([...upTo('S', 21), ...upTo('L', 6), ...upTo('B', 2)]);
});

test('the names of all functions are known', async () => {
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

/** From nothing to Ready; each function does its part. */
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

test('the normal life of an image breaks nothing, at rest or not', () => {
  expectHolds(aHistory(goodLife));
  expectHolds(aHistory(goodLife, { stillFromMs: 0 }));
});

test('the cost of a change does not grow with the history, because a simulation judges thousands', () => {
  const readsOf = (lives: number) => {
    const history = aHistory(Array.from({ length: lives }, () => goodLife).flat(), { stillFromMs: 0 });
    const { counted, reads } = countReads(history);
    check(counted);
    return reads();
  };
  const few = readsOf(11);
  expect(few).toBeGreaterThan(11 * goodLife.length);
  expect(readsOf(22) / few).toBeLessThan(2.1);
});

/** Counts the reads of a value: unlike time, they do not depend on the load of the machine. */
function countReads<T extends object>(of: T): { counted: T; reads: () => number } {
  let reads = 0;
  const seen = new WeakMap<object, object>();
  const counting = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const known = seen.get(value);
    if (known) return known;
    const proxy = new Proxy(value, {
      get: (target, key) => {
        reads++;
        return counting(Reflect.get(target, key));
      },
    });
    seen.set(value, proxy);
    return proxy;
  };
  return { counted: counting(of) as T, reads: () => reads };
}

test('a violation is described in one line', () => {
  const [violation] = check(aHistory([by('start-sync', granted()), download(syncing)]));
  expect(violation && describeViolation(violation)).toMatch(/^S2 at revision 102: DataVolume ubuntu-/);
});
