import { expect, test } from 'vitest';
import { inSuite } from './suite.ts';

const stories = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
const namesIn = (mode: string, quick?: string[]) =>
  inSuite(stories, quick ? { quick } : {}, mode).map(({ name }) => name);

test('the quick suite has the stories that are named, the slow one all others', () => {
  expect(namesIn('test', ['b'])).toEqual(['b']);
  expect(namesIn('slow', ['b'])).toEqual(['a', 'c']);
});

test('where none is named all are slow', () => {
  expect(namesIn('test')).toEqual([]);
  expect(namesIn('slow')).toEqual(['a', 'b', 'c']);
});

test.each(['test', 'slow'])('a name that is no story’s is an error in mode %s', (mode) => {
  expect(() => namesIn(mode, ['b', 'd'])).toThrow('expected the name of a story, found d');
});
