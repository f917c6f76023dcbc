import { expect, test } from 'vitest';
import { spreadOf } from './spread.ts';

test('percentiles are values that were measured, whatever their order', () => {
  const samples = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(spreadOf(samples)).toEqual({ count: 100, p50: 50, p95: 95 });
  expect(spreadOf([7])).toEqual({ count: 1, p50: 7, p95: 7 });
});

test('nothing measured is no number, so that no bound holds by it', () => {
  expect(spreadOf([]).p95 <= 10).toBe(false);
});
