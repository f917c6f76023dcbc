import { expect, test } from 'vitest';
import { delay, realClock, steppedClock } from './clock.ts';

test('a delay of a year is not over at once, and can be called off', async () => {
  let isOver = false;
  const off = realClock.after(366 * 24 * 3600 * 1000, () => {
    isOver = true;
  });
  await delay(realClock, 20);
  expect(isOver).toBe(false);
  off();
});

test('a stepped clock runs what falls due in order of its time', () => {
  const clock = steppedClock();
  const ran: string[] = [];
  clock.after(20, () => ran.push('b'));
  clock.after(10, () => {
    ran.push('a');
    clock.after(5, () => ran.push('a later'));
  });
  clock.step(19);
  expect(ran).toEqual(['a', 'a later']);
  clock.step(1);
  expect(ran).toEqual(['a', 'a later', 'b']);
});
