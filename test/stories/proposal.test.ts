import { expect, test } from 'vitest';
import { allStories } from './all.ts';
import { stories as machines, shown as ofMachines } from './proposal.ts';
import { shown as ofWorkspaces, stories as workspaces } from './workspace-proposal.ts';

const everyStory = Object.values(allStories).flat();

const shown = [...ofMachines, ...ofWorkspaces];

test.each(shown)('%s %s: a story shows it, on every cluster', (_, __, name) => {
  const found = everyStory.filter((story) => story.name === name);
  expect(found).toHaveLength(1);
  expect(found[0]?.localOnly).toBeUndefined();
});

test('every story of the proposals answers a branch or a question', () => {
  const named = new Set(shown.map(([, , story]) => story));
  expect([...machines, ...workspaces].map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
});
