import { expect, test } from 'vitest';
import { boundsOf } from './bounds.ts';
import { measureReconciles } from './reconcile-costs.ts';

test('a sweep with nothing to do costs each function at most three calls, and 300 finished images add no read to a reconcile', async () => {
  const bounds = boundsOf({
    runs: [],
    reconciles: await measureReconciles([0, 300]),
    bytes: [],
    starts: [],
    lives: [],
  });
  expect(bounds.filter(({ holds }) => !holds)).toEqual([]);
  const swept = bounds.filter(({ what }) => what.startsWith('sweep with nothing to do')).map(({ what }) => what);
  expect(swept).toEqual(
    expect.arrayContaining([expect.stringContaining('start-sync'), expect.stringContaining('follow-sync')]),
  );
}, 60_000);
