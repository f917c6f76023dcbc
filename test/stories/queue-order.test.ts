import { expect, test } from 'vitest';
import { at, aVMDiskImage } from '../support/builders/images.ts';
import type { Change } from './history.ts';
import { queueOrder } from './queue-order.ts';

const first = aVMDiskImage({ name: 'first', uid: 'z', status: { phase: 'Queued', queuedAt: at(1) } });
const second = aVMDiskImage({ name: 'second', uid: 'a', status: { phase: 'Queued', queuedAt: at(2) } });
const born = [first, second].map((object): Change => ({ type: 'ADDED', object }));

test('the image that was queued first is first, whatever the uids', () => {
  expect(queueOrder(born)).toEqual(['first', 'second']);
});
