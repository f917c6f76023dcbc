import { describe, expect, test } from 'vitest';
import { scenarioNames } from '../replay/scenarios.ts';
import { unaccounted } from './compare.ts';
import { type Deviation, deviations, notHeld } from './deviations.ts';

const used = new Set<Deviation>();

describe('the local cluster writes what was recorded of the real one', () => {
  test.each(scenarioNames().filter((name) => !(name in notHeld)))('%s', { timeout: 120_000 }, async (scenario) => {
    expect(await unaccounted(scenario, used)).toEqual([]);
  });

  test('and each listed deviation is one', () => {
    expect(deviations.filter((one) => !used.has(one)).map(({ what }) => what)).toEqual([]);
  });
});
