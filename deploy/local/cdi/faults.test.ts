import { expect, test } from 'vitest';
import { faultTable } from './faults.ts';

const lab = { dataVolume: 'lab-1', url: 'https://s3/images/lab.qcow2' };

test('a rule applies by URL or by name, whole or by pattern', () => {
  const faults = faultTable([
    { match: 'lab.qcow2', mode: 'stall' },
    { match: /^lab-\d$/, mode: 'flap' },
  ]);
  expect(faults.inject('1', lab, 'stall', 'oom')).toMatchObject({ mode: 'stall' });
  expect(faults.inject('1', lab, 'flap')).toMatchObject({ mode: 'flap' });
  expect(faults.inject('1', { dataVolume: 'my-lab-1', url: '' }, 'stall', 'flap')).toBeUndefined();
});

test('it is not injected before its first occasion, nor more often than it says', () => {
  const faults = faultTable([{ match: 'lab', mode: 'oom', after: 1, times: 2 }]);
  const injected = ['a', 'b', 'c', 'd'].map((occasion) => faults.inject(occasion, lab, 'oom') !== undefined);
  expect(injected).toEqual([false, true, true, false]);
});

test('the same occasion gets the same answer however often it is asked', () => {
  const faults = faultTable([{ match: 'lab', mode: 'oom', times: 1 }]);
  const injected = ['a', 'a', 'b', 'a'].map((occasion) => faults.inject(occasion, lab, 'oom') !== undefined);
  expect(injected).toEqual([true, true, false, true]);
});
