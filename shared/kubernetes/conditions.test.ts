import { expect, test } from 'vitest';
import { at } from '../../test/support/builders/images.ts';
import { conditionAfter } from './conditions.ts';

const ready = (status: 'True' | 'False') => ({ type: 'Ready', status, reason: 'Ready', message: '' }) as const;
const before = { ...ready('True'), lastTransitionTime: at(10) };

test('the time of a transition is that of the change of the status', () => {
  expect(conditionAfter(undefined, ready('True'), at(10))).toEqual(before);
  expect(conditionAfter(before, ready('True'), at(20)).lastTransitionTime).toBe(at(10));
  expect(conditionAfter(before, ready('False'), at(20)).lastTransitionTime).toBe(at(20));
});

test('its message is one line', () => {
  const next = { ...ready('False'), message: 'refused:\n- .spec.url\n' };
  expect(conditionAfter(before, next, at(20)).message).toBe('refused: - .spec.url');
});

test('it never goes back, although the clock of who writes it is behind', () => {
  expect(conditionAfter(before, ready('False'), at(3)).lastTransitionTime).toBe(at(10));
});
