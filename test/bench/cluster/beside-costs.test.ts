import { expect, test } from 'vitest';
import { besideCosts, mostBeside, reportBeside } from './beside-costs.ts';

const machine = { processors: '2', node: 'v26', load: [1, 2] as const };
const plain = { columns: 80, colour: false };

/**
 * 100 images of which each costs a part 0.1 s, and more beside others of which a change costs 0.2 s; itself it needs 0.05 s a second alone
 * and 0.1 beside them.
 */
const measured = (more: number) => {
  const besides = (changes: number, seconds: number) => ({
    cpu: { etcd: 10 + more + 0.2 * changes + 0.1 * seconds },
    ...{ seconds, changes },
  });
  return {
    images: 100,
    alone: {
      rest: { cpu: { etcd: 3 }, seconds: 60 },
      runs: [
        { cpu: { etcd: 9.5 }, seconds: 10 },
        { cpu: { etcd: 11.5 }, seconds: 10 },
      ],
    },
    beside: { rest: { cpu: { etcd: 6 }, seconds: 60 }, runs: [besides(25, 12), besides(160, 20), besides(28, 14)] },
  };
};

test('what changes of the others cost, and a cluster at rest, is taken off', () => {
  const [etcd] = besideCosts(measured(1));
  expect(etcd?.alone).toBeCloseTo(100);
  expect(etcd?.beside).toBeCloseTo(110);
});

test.each([
  [0.5, true],
  [1.5, false],
])(`an image that costs %s s of 10 more holds the promise of ${mostBeside} times: %s`, (more, ok) => {
  expect(reportBeside(besideCosts(measured(more)), machine, plain).ok).toBe(ok);
});
