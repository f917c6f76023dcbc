import { expect, test } from 'vitest';
import { Scheduler } from './scheduler.ts';

test('a delayed step runs when the faults end at the latest, and nothing is delayed after that', async () => {
  const scheduler = new Scheduler(() => 0, 0);
  const came: string[] = [];
  scheduler.heldUp(130_000, () => void came.push('before'));
  scheduler.heal();
  scheduler.heldUp(130_000, () => void came.push('after'));
  while (!scheduler.isIdle) await scheduler.next();
  expect(came).toEqual(['before', 'after']);
  expect(scheduler.now()).toBe(0);
});
