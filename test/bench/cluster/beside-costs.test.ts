import { expect, test } from 'vitest';
import { besideCosts, mostBeside, reportBeside } from './beside-costs.ts';

const machine = { processors: '2', node: 'v26', load: [1, 2] as const };
const plain = { columns: 80, colour: false };

/** 100 images of which each costs a part 0.1 s, and 0.01 s more beside others of which a change costs 0.2 s; itself it needs 0.05 s a second. */
const measured = (more: number) => ({
  images: 100,
  without: [
    { cpu: { etcd: 9 }, seconds: 10 },
    { cpu: { etcd: 11 }, seconds: 10 },
  ],
  idle: { cpu: { etcd: 3 }, seconds: 60 },
  alone: { cpu: { etcd: 27 }, seconds: 60, changes: 120 },
  beside: [{ cpu: { etcd: 10 + more + 0.2 * 25 }, seconds: 12, changes: 25 }],
});

test('what changes of the others cost by themselves is taken off', () => {
  const [etcd] = besideCosts(measured(1));
  expect(etcd?.without).toBeCloseTo(100);
  expect(etcd?.beside).toBeCloseTo(110);
});

test.each([
  [0.5, true],
  [1.5, false],
])(`an image that costs %s s of 10 more holds the promise of ${mostBeside} times: %s`, (more, ok) => {
  expect(reportBeside(besideCosts(measured(more)), machine, plain).ok).toBe(ok);
});
