import { expect, test } from 'vitest';
import { keyOf } from '../../shared/kinds/resource.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { aHolder, aLease, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { queueOf } from '../cli/queue-view.ts';
import { explain, visibleAmong } from './trouble.ts';

test('an image that waits for the same content is explained by the image that downloads it', () => {
  const source = { bytes: 1, content: 'same', inspectedAt: at(0), queuedAt: at(0) };
  const first = aVMDiskImage({
    name: 'first',
    status: { phase: 'Syncing', message: 'Downloading.', revision: 1, queuedAt: at(0), source },
  });
  const second = aVMDiskImage({
    name: 'second',
    status: { phase: 'Queued', message: 'Waiting.', revision: 1, queuedAt: at(0), source },
  });
  const images = new Map([first, second].map((image) => [keyOf(image.metadata), image]));
  const policy = parsePolicy({ data: { concurrency: '2' } });
  const queue = queueOf({ images: [first, second], lease: aLease([aHolder(first)]), policy }, start);
  const { steps } = explain(second, { images, machines: new Map(), policy, queue, nowMs: start });
  expect(steps.map(({ says }) => says).join()).toContain('first downloads the same (SameContent)');
});

test('why an image waits names no image that the user may not see', () => {
  const theirs = aVMDiskImage({ name: 'secret-plan', namespace: 'theirs', status: { phase: 'Syncing' } });
  const ours = aVMDiskImage({ name: 'ubuntu', namespace: 'ours', status: { phase: 'Queued', queuedAt: at(1) } });
  const images = new Map([
    ['theirs/secret-plan', theirs],
    ['ours/ubuntu', ours],
  ]);
  const policy = parsePolicy({ data: { concurrency: '1' } });
  const queue = queueOf({ images: [theirs, ours], lease: aLease([aHolder(theirs)]), policy }, start);
  const among = { images, machines: new Map(), policy, queue, nowMs: start };
  expect(explain(ours, among).help).toContain('(theirs/secret-plan)');
  const { help } = explain(
    ours,
    visibleAmong(among, (_, key) => key.startsWith('ours/')),
  );
  expect(help).toContain('It is number 1 in the queue; 1 of 1 slots held');
  expect(help).not.toContain('secret-plan');
});
