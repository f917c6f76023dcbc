import { expect, test } from 'vitest';
import { andClearUp } from './clean-up.ts';

const fails = (message: string) => () => Promise.reject(new Error(message));

test('it resolves with what the work did, after each step', async () => {
  const done: string[] = [];
  const result = await andClearUp(
    async () => 'result',
    () => done.push('first'),
    async () => done.push('second'),
  );
  expect([result, ...done]).toEqual(['result', 'first', 'second']);
});

test('the error of the work is thrown, not that of the clean-up, which runs to its end and is reported', async () => {
  const done: string[] = [];
  const run = andClearUp(fails('the story'), fails('the clean-up'), () => done.push('last'));
  await expect(run).rejects.toThrow(/^the story\n\nClearing up after it failed, too:\nthe clean-up$/);
  expect(done).toEqual(['last']);
});

test('a clean-up that fails alone is an error', async () => {
  await expect(andClearUp(async () => 'result', fails('the clean-up'))).rejects.toThrow(/^the clean-up$/);
});
