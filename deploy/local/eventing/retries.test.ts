import { describe, expect, test } from 'vitest';
import { steppedClock } from '../clock.ts';
import type { Delivery } from './resources.ts';
import { adapterPolicy, durationMs, policyOf, type RetryPolicy, sendWithRetries } from './retries.ts';

/** Runs the retries against a clock that always jumps to what is due next; the times of the attempts, from the first. */
async function attempts(policy: RetryPolicy, answer: () => Response | undefined) {
  const clock = steppedClock();
  const startMs = clock.now();
  const times: number[] = [];
  const result = sendWithRetries(
    () => {
      times.push(clock.now() - startMs);
      const response = answer();
      return response ? Promise.resolve(response) : new Promise(() => {});
    },
    policy,
    { clock, signal: new AbortController().signal },
  );
  let isOver = false;
  result.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise(setImmediate);
    if (!isOver) clock.step(1);
  }
  return { times, outcome: await result };
}

const status = (code: number) => () => new Response(null, { status: code });
const three: Delivery = { retry: 3, backoffPolicy: 'exponential', backoffDelay: 'PT0.02S' };

// Which answers a Broker repeats, and how often: test/proofs/contract/eventing/delivery-cases.ts, which knows no upper bound of a wait.
test.each<{ what: string; delivery: Delivery; times: number[] }>([
  { what: 'exponential backoff', delivery: three, times: [0, 20, 60, 140] },
  { what: 'linear backoff', delivery: { ...three, backoffPolicy: 'linear' }, times: [0, 0, 20, 60] },
  { what: 'no backoff', delivery: { retry: 3 }, times: [0, 0, 0, 0] },
  { what: 'no retry', delivery: { deadLetterSink: { uri: 'http://x/' } }, times: [0] },
])('with $what a Broker tries after $times ms', async ({ delivery, times }) => {
  expect((await attempts(policyOf(delivery), status(500))).times).toEqual(times);
});

test('what gives no answer in time is repeated', async () => {
  const hung = await attempts(policyOf({ ...three, retry: 1, timeout: 'PT0.05S' }), () => undefined);
  expect(hung).toMatchObject({ times: [0, 70], outcome: { error: { message: 'no answer within 50 ms' } } });
});

describe('the adapter of a source', () => {
  test.each([404, 413, 425, 429, 502, 503, 504])('repeats a %i five times in 3.1 s', async (code) => {
    const { times } = await attempts(
      { ...adapterPolicy, backoffMs: (n) => adapterPolicy.backoffMs(n) / 100 },
      status(code),
    );
    expect(times).toEqual([0, 1, 3, 7, 15, 31]);
    expect(adapterPolicy.backoffMs(0)).toBe(100);
  });

  test('gives up at once on a 500', async () => {
    expect((await attempts(adapterPolicy, status(500))).times).toEqual([0]);
  });
});

test.each([
  ['PT0.2S', 200],
  ['PT10S', 10_000],
  ['PT1M30S', 90_000],
  ['P1DT1H', 90_000_000],
])('%s is %i ms', (text, expected) => {
  expect(durationMs(text)).toBe(expected);
});

test.each(['10s', 'P', 'PT', ''])('"%s" is no duration, and the error says what one looks like', (text) => {
  expect(() => durationMs(text)).toThrow(/expected an ISO 8601 duration such as PT0.2S/);
});
