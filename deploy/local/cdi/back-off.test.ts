import { expect, test } from 'vitest';
import { nextBackOff } from './back-off.ts';

/** The pauses after runs of these lengths, in seconds. */
function pauses(ranSeconds: number[], scale = 1) {
  let history = { failures: 0 };
  return ranSeconds.map((ran) => {
    const next = nextBackOff(history, ran * 1000, scale);
    history = next.history;
    return next.backOffMs / 1000;
  });
}

test('the first restart is at once, the next after 10 s, doubled up to 5 min, for ever', () => {
  expect(pauses([1, 1, 1, 1, 1, 1, 1, 1, 1])).toEqual([0, 10, 20, 40, 80, 160, 300, 300, 300]);
});

test('a run of ten minutes makes the next restart immediate again', () => {
  expect(pauses([1, 1, 1, 600, 1])).toEqual([0, 10, 20, 0, 10]);
});

test('all of it can be scaled down', () => {
  expect(pauses([0.001, 0.001, 0.6], 0.001)).toEqual([0, 0.01, 0]);
});
