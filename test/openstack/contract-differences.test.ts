import { expect, test } from 'vitest';
import { areInOrder, differencesOf } from './contract-differences.ts';
import type { Told } from './contract-run.ts';

test.each([
  { name: 'the same', expected: ['BUILD', 'ACTIVE'], seen: ['BUILD', 'ACTIVE'], isSo: true },
  { name: 'a missed state', expected: ['BUILD', 'ACTIVE'], seen: ['BUILD', 'spawning', 'ACTIVE'], isSo: true },
  {
    name: 'a state that never comes',
    expected: ['BUILD', 'spawning', 'ACTIVE'],
    seen: ['BUILD', 'ACTIVE'],
    isSo: false,
  },
  { name: 'another order', expected: ['BUILD', 'ACTIVE'], seen: ['ACTIVE', 'BUILD', 'ACTIVE', 'BUILD'], isSo: false },
  { name: 'another end', expected: ['BUILD', 'ACTIVE'], seen: ['BUILD', 'ACTIVE', 'ERROR'], isSo: false },
])('$name: $isSo', ({ expected, seen, isSo }) => {
  expect(areInOrder(expected, seen)).toBe(isSo);
});

const told = (...seen: string[]): Told[] => [{ ask: 'GET', status: 200, headers: {}, seen }];

test('a simulator shows all that was recorded; real services may miss some of it, not turn it round', () => {
  const recorded = told('BUILD', 'spawning', 'ACTIVE');
  expect(differencesOf(recorded, told('BUILD', 'ACTIVE'))).toHaveLength(1);
  expect(differencesOf(recorded, told('BUILD', 'networking', 'ACTIVE'), true)).toEqual([]);
  expect(differencesOf(recorded, told('spawning', 'BUILD', 'ACTIVE'), true)).toHaveLength(1);
});

test('the order in which a service lists roles does not matter, which they are does', () => {
  const shown = (...names: string[]): Told[] => [
    { ask: 'POST', status: 201, headers: {}, body: { 'token.roles': names.map((name, id) => ({ id, name })) } },
  ];
  expect(differencesOf(shown('member', 'reader'), shown('reader', 'member'))).toEqual([]);
  expect(differencesOf(shown('member', 'reader'), shown('reader', 'admin'))).toHaveLength(1);
});
