import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ApiError } from '../../../shared/runtime/errors.ts';
import { steppedClock } from '../clock.ts';
import { type Again, startWorkQueue } from './work-queue.ts';

const ref = { namespace: 'default', name: 'a' };

function queueThat(answers: (() => Again | Promise<Again>)[]) {
  const clock = steppedClock();
  const looks: number[] = [];
  const startMs = clock.now();
  const queue = startWorkQueue({
    clock,
    retry: { firstMs: 1000, maxMs: 4000 },
    reconcile: async () => {
      looks.push(clock.now() - startMs);
      return answers[looks.length - 1]?.();
    },
  });
  queue.start();
  const step = async (milliseconds: number) => {
    await turn();
    clock.step(milliseconds);
    await turn();
  };
  return { queue, looks, step };
}

const fails = () => {
  throw new Error('not yet');
};

test('errors are tried again after 1, 2, 4, 4 … seconds', async () => {
  const { queue, looks, step } = queueThat([fails, fails, fails, fails]);
  queue.add(ref);
  for (let second = 0; second < 12; second++) await step(1000);
  expect(looks).toEqual([0, 1000, 3000, 7000, 11_000]);
  await queue.stop();
});

test('a lost race is tried again at once', async () => {
  const { queue, looks, step } = queueThat([
    () => Promise.reject(new ApiError(409, 'Conflict', 'someone wrote first')),
  ]);
  queue.add(ref);
  await step(0);
  expect(looks).toEqual([0, 0]);
  await queue.stop();
});

test('nothing wakes an object that is held, and what came meanwhile makes one look', async () => {
  const { queue, looks, step } = queueThat([() => ({ holdMs: 50 })]);
  queue.add(ref);
  await step(10);
  queue.add(ref);
  queue.add(ref);
  await step(10);
  expect(looks).toEqual([0]);
  await step(30);
  expect(looks).toEqual([0, 50]);
  await queue.stop();
});

test('an object is looked at by one worker at a time', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const { queue, looks, step } = queueThat([() => promise]);
  queue.add(ref);
  await step(0);
  queue.add(ref);
  await step(0);
  expect(looks).toHaveLength(1);
  resolve(undefined);
  await step(0);
  expect(looks).toHaveLength(2);
  await queue.stop();
});

test('after stop nothing is looked at any more', async () => {
  const { queue, looks, step } = queueThat([() => ({ requeueAfterMs: 10 })]);
  queue.add(ref);
  await step(0);
  await queue.stop();
  await step(100);
  queue.add(ref);
  await step(0);
  expect(looks).toEqual([0]);
});
