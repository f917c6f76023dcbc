import { describe, expect, test } from 'vitest';
import type { ClusterView } from './cluster-view.ts';
import { render, roomIn } from './frame.ts';

const look = { columns: 80, colour: false };

const view: ClusterView = {
  images: [
    { name: 'vmdi-farm/ubuntu-24.04', phase: 'Syncing', share: 0.5, slot: 1, waiting: '' },
    { name: 'vmdi-farm/debian-12', phase: 'Queued', share: undefined, slot: undefined, waiting: 'number 1 for 3s' },
  ],
  machines: [],
  facts: ['one', 'two', 'three'].map((fact) => ({ time: '', about: 'vmdi-farm/a', fact, message: 'because' })),
};

test('the display has a line for each image and the last facts', () => {
  expect(render(view, look, { images: 10, machines: 0, facts: 2 })).toEqual([
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
  expect(render({ ...view, facts: [] }, look, { images: 1, machines: 0, facts: 2 }).at(-1)).toBe('and 1 more');
});

test('a cluster without images shows that', () => {
  expect(render({ images: [], machines: [], facts: [] }, look, { images: 10, machines: 0, facts: 2 })).toEqual([
    '',
    'No image yet.',
  ]);
});

const machine = (name: string, more: Partial<ClusterView['machines'][number]> = {}) => ({
  name: `lab/${name}`,
  phase: 'Ready' as const,
  image: 'vmdi-farm/ubuntu',
  ipAddress: '10.0.0.1',
  message: 'The machine runs.',
  ...more,
});

test('machines have a table of their own', () => {
  const waiting = machine('b', { phase: 'Provisioning', ipAddress: '', message: 'Waiting for its image.' });
  const lines = render({ ...view, machines: [waiting, machine('a')], facts: [] }, look, {
    images: 2,
    machines: 2,
    facts: 2,
  });
  expect(lines.slice(4)).toEqual([
    '',
    'MACHINE  PHASE         IMAGE             IP',
    'lab/b    Provisioning  vmdi-farm/ubuntu            Waiting for its image.',
    'lab/a    Ready         vmdi-farm/ubuntu  10.0.0.1  The machine runs.',
  ]);
});

describe('the room', () => {
  const many = (images: number, machines: number, facts: number): ClusterView => ({
    images: Array.from({ length: images }, () => view.images[0] as ClusterView['images'][number]),
    machines: Array.from({ length: machines }, (_, index) => machine(`m-${index}`)),
    facts: Array.from({ length: facts }, () => view.facts[0] as ClusterView['facts'][number]),
  });
  test.each([
    [23, 3, 4, 9],
    [23, 30, 0, 0],
    [23, 30, 30, 30],
    [23, 2, 100, 3],
    [23, 100, 2, 3],
    [8, 10, 10, 10],
  ])('of %s lines is enough for %s images, %s machines and %s facts', (rows, ...counts) => {
    const crowd = many(...counts);
    expect(render(crowd, look, roomIn(rows, crowd)).length).toBeLessThanOrEqual(rows);
  });
  test('goes to the tables that need it', () => {
    expect(roomIn(23, many(2, 100, 0))).toMatchObject({ images: 2, machines: 16 });
    expect(roomIn(23, many(100, 2, 0))).toMatchObject({ images: 16, machines: 2 });
    expect(roomIn(23, many(3, 4, 9))).toMatchObject({ images: 3, machines: 4, facts: 6 });
  });
});
