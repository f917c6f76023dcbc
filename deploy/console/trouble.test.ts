import { expect, test } from 'vitest';
import { parsePolicy } from '../../shared/policy.ts';
import { aHolder, aLease, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { queueOf } from '../cli/queue-view.ts';
import { amongSeen, explain } from './trouble.ts';

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
    amongSeen(among, (_, key) => key.startsWith('ours/')),
  );
  expect(help).toContain('It is number 1 in the queue; 1 of 1 slots are held');
  expect(help).not.toContain('secret-plan');
});
