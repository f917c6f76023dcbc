import { expect, test } from 'vitest';
import { filterIn, matches, searchWith } from './filter.ts';

const row = { state: 'Failed', phase: 'Failed', message: 'The object does not exist.' };

test('each word is looked for in name, phase and message', () => {
  const found = (words: string) => matches(filterIn(`?q=${words}`), 'lab/ubuntu', row);
  expect(['', 'ubuntu', 'failed', 'Object+ubuntu'].map(found)).toEqual([true, true, true, true]);
  expect(found('ubuntu+debian')).toBe(false);
});

test('a state is the whole word', () => {
  expect(matches(filterIn('?state=Failed'), 'lab/ubuntu', row)).toBe(true);
  expect(matches(filterIn('?state=under+way'), 'lab/ubuntu', row)).toBe(false);
});

test('a change of the address keeps its other parameters, and leaves out what is empty', () => {
  expect(searchWith('?past=60&q=a', { state: 'under way' })).toBe('?past=60&q=a&state=under+way');
  expect(searchWith('?q=a', { q: '' })).toBe('');
});
