import { describe, expect, test } from 'vitest';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { aHolder, at, aVMDiskImage, type ImageOptions, start } from '../../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../../test/support/builders/machines.ts';
import { clusterView, type Known } from './cluster-view.ts';

const known: Known = { nowMs: start + 60_000, holders: [], facts: [], shareOf: () => undefined };

const image = (name: string, status: ImageOptions['status'], more: ImageOptions = {}) =>
  aVMDiskImage({ name, ...(status ? { status } : {}), ...more });

const rows = (images: VMDiskImage[], more: Partial<Known> = {}) =>
  clusterView(images, [], { ...known, ...more }).images;

const held = {
  type: 'DeletionHeld',
  status: 'True' as const,
  reason: 'Referenced',
  message: 'lab/a uses it.',
  lastTransitionTime: at(0),
};

test('images that sync come first, then the queue in order, then images at rest', () => {
  const found = rows([
    image('done', { phase: 'Succeeded' }),
    image('second', { phase: 'Queued', queuedAt: at(2) }),
    image('new', undefined),
    image('first', { phase: 'Queued', queuedAt: at(1) }),
    image('failed', { phase: 'Failed' }),
    image('busy', { phase: 'Syncing' }),
  ]);
  expect(found.map(({ name }) => name.split('/')[1])).toEqual(['busy', 'first', 'second', 'new', 'failed', 'done']);
});

describe('what an image waits for', () => {
  test.each<[string, ImageOptions['status'], ImageOptions, string]>([
    ['its place in the line, and since when', { phase: 'Queued', queuedAt: at(48) }, {}, 'number 1 for 12s'],
    ['its next attempt', { phase: 'Retrying', nextAttemptAt: at(105) }, {}, 'again in 45s'],
    ['an attempt that is due', { phase: 'Retrying', nextAttemptAt: at(10) }, {}, 'again in 0s'],
    ['its snapshot', { phase: 'Snapshotting' }, {}, 'its snapshot'],
    ['its end', { phase: 'Syncing' }, { deleted: true }, 'to be deleted'],
    [
      'its machines, before its end',
      { phase: 'Succeeded', conditions: [held] },
      { deleted: true },
      'its machines, then it is deleted',
    ],
    ['nothing', { phase: 'Succeeded' }, {}, ''],
  ])('%s', (_, status, more, expected) => {
    expect(rows([image('a', status, more)])[0]?.waiting).toBe(expected);
  });
});

describe('the progress of an image', () => {
  const syncing = image('a', { phase: 'Syncing', progress: '40%' });
  test('is what the store counts', () => {
    expect(rows([syncing], { shareOf: () => 0.7 })[0]?.share).toBe(0.7);
  });
  test('is what CDI reports of an object without a count', () => {
    expect(rows([syncing])[0]?.share).toBe(0.4);
  });
  test('is unknown where CDI says none', () => {
    expect(rows([image('a', { phase: 'Syncing', progress: 'N/A' })])[0]?.share).toBeUndefined();
  });
});

test('a slot is numbered by its place in the Lease', () => {
  const [a, b] = [image('a', { phase: 'Syncing', attempt: 1 }), image('b', { phase: 'Syncing', attempt: 1 })];
  const found = rows([a, b], { holders: [aHolder(b), aHolder(a)] });
  expect(found.map(({ name, slot }) => [name, slot])).toEqual([
    ['vmdi-farm/a', 2],
    ['vmdi-farm/b', 1],
  ]);
});

describe('machines', () => {
  const machines = [
    aVirtualMachine({ name: 'runs', status: { phase: 'Ready', message: 'The machine runs.', ipAddress: '10.0.0.1' } }),
    aVirtualMachine({ name: 'goes', deleted: true, status: { phase: 'Ready' } }),
    aVirtualMachine({ name: 'failed', status: { phase: 'Failed' } }),
    aVirtualMachine({ name: 'waits', status: { phase: 'Provisioning' } }),
    aVirtualMachine({ name: 'new' }),
  ];
  const found = clusterView([], machines, known).machines;
  test('are sorted: starting ones first, then failed ones, then running ones', () => {
    expect(found.map(({ name, phase }) => `${name} ${phase}`)).toEqual([
      'lab/new ',
      'lab/waits Provisioning',
      'lab/failed Failed',
      'lab/goes Terminating',
      'lab/runs Ready',
    ]);
  });
  test('tell their image, their address and what they say', () => {
    expect(found.at(-1)).toMatchObject({
      image: 'vmdi-farm/ubuntu',
      ipAddress: '10.0.0.1',
      message: 'The machine runs.',
    });
  });
  test('name an image of their own namespace without it', () => {
    const own = aVirtualMachine({ spec: { vmDiskImageRef: { namespace: 'lab', name: 'ubuntu' } } });
    expect(clusterView([], [own], known).machines[0]?.image).toBe('ubuntu');
  });
});
