import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { allStories, subjects } from './all.ts';

const stories = Object.values(allStories).flat();

test('every subject has a file that runs it on the local cluster', async () => {
  const files = await readdir(new URL('local/', import.meta.url));
  expect(files).toEqual(expect.arrayContaining(Object.keys(subjects).map((subject) => `${subject}.test.ts`)));
});

test('no two stories have the same name, and no two groups', () => {
  expect(new Set(stories.map(({ name }) => name)).size).toBe(stories.length);
  const groups = Object.values(subjects).flatMap((subject) => Object.keys(subject));
  expect(Object.keys(allStories)).toEqual(['scale', ...groups]);
});

test('what a real cluster cannot run is no smoke test of one', () => {
  expect(stories.filter(({ smoke, localOnly }) => smoke && localOnly).map(({ name }) => name)).toEqual([]);
});
