import { expect, test } from 'vitest';
import { mostOfInspection, reportInspection } from './inspection-cost.ts';

const machine = { processors: '2', node: 'v26', load: [1, 2] as const };
const plain = { columns: 80, colour: false };
const runs = (...seconds: number[]) => seconds.map((etcd) => ({ cpu: { etcd }, seconds: 10 }));

test.each([
  [1.4, true],
  [1.6, false],
])(
  `an inspection of %s s for 100 images holds the promise of ${mostOfInspection} ms: %s; a run that another process disturbed does not count`,
  (more, ok) => {
    const measured = { without: runs(10, 10, 10, 10), inspected: runs(10 + more, 10 + more, 10 + more, 30) };
    expect(reportInspection(measured, machine, plain).ok).toBe(ok);
  },
);
