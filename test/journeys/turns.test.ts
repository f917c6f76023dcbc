import { expect, test } from 'vitest';
import type { Lease } from '../../shared/resources/coordination/lease.ts';
import { aHolder, aLease, at, aVMDiskImage, start } from '../builders.ts';
import type { Change } from './history.ts';
import { excessIn, overtakingIn, queueOrder } from './turns.ts';

const first = aVMDiskImage({ name: 'first', uid: 'z', status: { phase: 'Queued', queuedAt: at(1) } });
const second = aVMDiskImage({ name: 'second', uid: 'a', status: { phase: 'Queued', queuedAt: at(2) } });
const born = [first, second].map((object): Change => ({ type: 'ADDED', object }));

const grantTo = (images: readonly (typeof first)[], begunAfterSeconds = 0, resourceVersion = '30'): Change => {
  const lease = aLease(images.map((image) => aHolder(image)));
  const spec = { ...lease.spec, renewTime: at(begunAfterSeconds) };
  const object: Lease = { ...lease, metadata: { ...lease.metadata, resourceVersion }, spec };
  return { type: 'MODIFIED', object };
};

const edit = (limit: number, resourceVersion: string, answeredAfterSeconds: number) => ({
  limit,
  resourceVersion,
  answeredMs: start + answeredAfterSeconds * 1000,
});

test('whoever was queued first is first in line, whatever the uids', () => {
  expect(queueOrder(born)).toEqual(['first', 'second']);
});

test('an image that is let in before one that waited longer has overtaken it', () => {
  expect(overtakingIn([...born, grantTo([second])])).toBe('a was let in before z by the Lease of resourceVersion 30');
  expect(overtakingIn([...born, grantTo([second, first])])).toContain('a was let in before z');
});

test('two images let in by one write in their order overtake nobody', () => {
  expect(overtakingIn([...born, grantTo([first, second])])).toBeUndefined();
});

test('a deleted image is overtaken by nobody', () => {
  expect(overtakingIn([...born, { type: 'DELETED', object: first }, grantTo([second])])).toBeUndefined();
});

test('more holders than the limit that was in force when the pass began are too many', () => {
  const edits = [edit(2, '5', 0), edit(1, '10', 5)];
  const lease = grantTo([first, second], 6);
  expect(excessIn([lease], edits)).toBe('2 hold slots, allowed were 1: the Lease of resourceVersion 30');
});

test('a pass that began before the limit was lowered may still grant by the old one', () => {
  expect(excessIn([grantTo([first, second], 4)], [edit(2, '5', 0), edit(1, '10', 5)])).toBeUndefined();
});

test('a limit that was raised after the Lease was written allows nothing', () => {
  const edits = [edit(1, '5', 0), edit(2, '40', 5)];
  expect(excessIn([grantTo([first, second], 1)], edits)).toContain('allowed were 1');
});

test('a lowered limit turns nobody out: who held a slot before keeps it', () => {
  const edits = [edit(2, '5', 0), edit(0, '35', 5)];
  const changes = [grantTo([first, second], 1), grantTo([first], 6, '40')];
  expect(excessIn(changes, edits)).toBeUndefined();
});
