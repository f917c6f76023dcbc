import { expect, test } from 'vitest';
import { invariants } from '../invariants/check.ts';
import { bugs } from './bugs.ts';

test('at least forty different mistakes are listed', () => {
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
  expect(bugs.length).toBeGreaterThanOrEqual(40);
});

test('each invariant is named by a mistake', () => {
  const named = new Set(bugs.flatMap(({ breaks }) => breaks));
  expect(invariants.map(({ number }) => number).filter((number) => !named.has(number))).toEqual([]);
});

test('each invariant that a mistake names exists', () => {
  const known = new Set(invariants.map(({ number }) => number));
  expect(bugs.flatMap(({ breaks }) => breaks).filter((number) => !known.has(number))).toEqual([]);
});
