import { expect, test } from 'vitest';
import type { ClusterView } from './cluster-view.ts';
import { render } from './frame.ts';

const look = { columns: 80, colour: false };

const view: ClusterView = {
  images: [
    { name: 'vmdi-farm/ubuntu-24.04', phase: 'Syncing', share: 0.5, slot: 1, waiting: '' },
    { name: 'vmdi-farm/debian-12', phase: 'Queued', share: undefined, slot: undefined, waiting: 'number 1 for 3s' },
  ],
  facts: ['one', 'two', 'three'].map((fact) => ({ time: '', image: 'vmdi-farm/a', fact, message: 'because' })),
};

test('the display has a line for each image and the last facts', () => {
  expect(render(view, look, { images: 10, facts: 2 })).toEqual([
    '',
    'IMAGE                   PHASE    PROGRESS               SLOT  WAITING FOR',
    'vmdi-farm/ubuntu-24.04  Syncing  ████████░░░░░░░░  50%     1',
    'vmdi-farm/debian-12     Queued                                number 1 for 3s',
    '',
    '  vmdi-farm/a  two  because',
    '  vmdi-farm/a  three  because',
  ]);
});

test('images that there is no room for are counted', () => {
  expect(render({ ...view, facts: [] }, look, { images: 1, facts: 2 }).at(-1)).toBe('and 1 more');
});

test('a cluster without images says so', () => {
  expect(render({ images: [], facts: [] }, look, { images: 10, facts: 2 })).toEqual(['', 'No image yet.']);
});
