import { describe, expect, test } from 'vitest';
import { report, type SoakResult } from './report.ts';

const look = { columns: Number.POSITIVE_INFINITY, colour: false };
const good: SoakResult = {
  ok: true,
  seed: 7,
  minutes: 2,
  kills: { 'start-sync': 2, 'the API server': 1 },
  done: { 'images made': 30, 'images synced': 21 },
  writes: { 'start-sync': 120, prune: 30 },
  changes: 900,
  restAfterMs: 51_200,
  notAtRest: [],
  violations: [],
};

describe('the report of a soak', () => {
  test('ends with one line that sums it up', () => {
    expect(report(good, look).at(-1)).toBe(
      '2 min, seed 7, 3 kills, 21 images synced, 150 writes, 900 changes, at rest after 51.2s, 0 violations',
    );
  });

  test('names each violation and what is not at rest', () => {
    const violations = [{ invariant: 'S2', revision: '815', message: 'a DataVolume without a slot' }];
    const lines = report({ ...good, ok: false, violations, notAtRest: ['VMDiskImage lab/disk-0: Syncing'] }, look);
    expect(lines).toContain('S2 at revision 815: a DataVolume without a slot');
    expect(lines).toContain('not at rest: VMDiskImage lab/disk-0: Syncing');
    expect(lines.at(-1)).toContain('1 not at rest, 1 violations');
  });

  test('shows fifty violations and counts the others', () => {
    const violations = Array.from({ length: 60 }, (_, index) => ({
      invariant: 'S1',
      revision: `${index}`,
      message: '',
    }));
    expect(report({ ...good, violations }, look)).toContain('and 10 violations more');
  });
});
