import { expect, test } from 'vitest';
import { changesOf } from './changes.ts';
import type { View } from './view.ts';

const view = (machines: Record<string, string>): View => ({
  cluster: {},
  images: {},
  machines: Object.fromEntries(Object.entries(machines).map(([key, phase]) => [key, { phase } as never])),
  servers: {},
  workspaces: {},
  pruned: {},
});

test.each([
  { what: 'nothing', before: { a: 'Ready' }, after: { a: 'Ready' }, told: undefined },
  { what: 'a new row', before: {}, after: { a: 'Ready' }, told: { set: { a: { phase: 'Ready' } }, gone: [] } },
  {
    what: 'another row',
    before: { a: 'x', b: 'y' },
    after: { a: 'z', b: 'y' },
    told: { set: { a: { phase: 'z' } }, gone: [] },
  },
  { what: 'a deleted row', before: { a: 'x' }, after: {}, told: { set: {}, gone: ['a'] } },
])('a page receives the changes of $what', ({ before, after, told }) => {
  expect(changesOf(view(before), view(after))).toEqual(told && { machines: told });
});
