import { describe, expect, test } from 'vitest';
import { scenarioNames } from '../replay/scenarios.ts';
import { unaccounted } from './compare.ts';
import { type Deviation, deviations } from './deviations.ts';

const used = new Set<Deviation>();

describe('the local cluster writes what the real one wrote', () => {
  test.each(scenarioNames())('%s', { timeout: 120_000 }, async (scenario) => {
    expect(await unaccounted(scenario, used)).toEqual([]);
  });

  test('every listed deviation occurs', () => {
    expect(deviations.filter((one) => !used.has(one)).map(({ what }) => what)).toEqual([]);
  });
});
