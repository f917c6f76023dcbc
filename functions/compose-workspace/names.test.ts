import { expect, test } from 'vitest';
import { duplicatesOf } from './names.ts';

test('names that occur twice are reported once, in their order', () => {
  expect(duplicatesOf(['b', 'a', 'b', 'c', 'a', 'b', 'a'])).toEqual(['b', 'a']);
});

// A lab may have a thousand ports in each of its 32 container clusters.
test('a long list takes no time that a reconcile would notice', () => {
  const names = Array.from({ length: 30_000 }, (_, index) => `name-${index}`);
  const from = process.threadCpuUsage();
  expect(duplicatesOf([...names, 'name-7'])).toEqual(['name-7']);
  expect(process.threadCpuUsage(from).user).toBeLessThan(100_000);
});
