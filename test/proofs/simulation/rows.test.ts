import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plans, roomy } from './arbitrary.ts';
import { report } from './report.ts';
import { faultRows, operationRows, rowsOf } from './rows.ts';

const sampled = fc.sample(plans(roomy), { seed: 1, numRuns: 2000 });

/** The rows of plans in which every fault has an effect. */
const met = new Set(
  sampled.flatMap((plan) => [...rowsOf(plan, { injected: new Map(plan.faults.map((fault) => [fault, 1])) })]),
);

describe('a report', () => {
  test('has a row for every operation and fault of the plans, and no others', () => {
    expect([...met].sort()).toEqual([...operationRows, ...faultRows].sort());
  });

  test('has no row twice', () => {
    expect(new Set([...operationRows, ...faultRows]).size).toBe(operationRows.length + faultRows.length);
  });

  test.each(['createImage', 'deleteImage', 'createMachine', 'deleteMachine', 'requestSync', 'changeUrl'])(
    'counts %s',
    (name) => expect(operationRows).toContain(name),
  );

  test('prints the runs and violations of each row', () => {
    const lines = report({
      ok: true,
      seed: 1,
      workers: 1,
      seconds: 1,
      cpuSeconds: 1,
      runs: 7,
      thinRuns: 6,
      runsPerSecond: 7,
      runsPerCpuSecond: 7,
      operations: { createImage: { runs: 7, violations: 0 } },
      faults: { 'download cut': { runs: 3, violations: 1 } },
      enumerated: {},
      mistakes: [],
      violations: [],
      unconfirmed: [],
    });
    expect(lines.map((line) => line.split(/\s{2,}/))).toEqual(
      expect.arrayContaining([
        ['operation', 'runs', 'violations'],
        ['createImage', '7', '0'],
        ['fault', 'runs', 'violations'],
        ['download cut', '3', '1'],
      ]),
    );
  });
});
