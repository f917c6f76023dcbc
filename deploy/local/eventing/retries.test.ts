import { describe, expect, test } from 'vitest';
import { steppedClock } from '../clock.ts';
import type { Delivery } from './resources.ts';
import { adapterPolicy, durationMs, policyOf, type RetryPolicy, sendWithRetries } from './retries.ts';

/** Runs the retries against a clock that always jumps to what is due next; the times of the attempts, from the first. */
async function attempts(policy: RetryPolicy, answers: (attempt: number) => Response | Error | undefined) {
  const clock = steppedClock();
  const startMs = clock.now();
  const times: number[] = [];
  const result = sendWithRetries(
    () => {
      const answer = answers(times.length);
      times.push(clock.now() - startMs);
      if (answer instanceof Error) return Promise.reject(answer);
      return answer ? Promise.resolve(answer) : new Promise(() => {});
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

describe('a Broker', () => {
  test.each([200, 202, 204, 400, 401, 403, 405, 410, 413, 422, 425, 451])(
    'asks once where the answer is %i',
    async (code) => {
      expect((await attempts(policyOf(three), status(code))).times).toEqual([0]);
    },
  );

  test.each([404, 408, 409, 429, 500, 501, 502, 503])('repeats a %i with exponential backoff', async (code) => {
    expect((await attempts(policyOf(three), status(code))).times).toEqual([0, 20, 60, 140]);
  });

  test('repeats a refused connection and what gives no answer in time', async () => {
    const refused = await attempts(policyOf(three), () => new Error('connection refused'));
    expect(refused.times).toEqual([0, 20, 60, 140]);
    const hung = await attempts(policyOf({ ...three, retry: 1, timeout: 'PT0.05S' }), () => undefined);
    expect(hung).toMatchObject({ times: [0, 70], outcome: { error: { message: 'no answer within 50 ms' } } });
  });

  test('stops at the first success', async () => {
    const { times, outcome } = await attempts(
      policyOf(three),
      (n) => new Response(null, { status: n < 2 ? 503 : 204 }),
    );
    expect(times).toEqual([0, 20, 60]);
    expect(outcome).toMatchObject({ response: { status: 204 } });
  });

  test('begins linear backoff at once', async () => {
    const linear = policyOf({ ...three, backoffPolicy: 'linear' });
    expect((await attempts(linear, status(500))).times).toEqual([0, 0, 20, 60]);
  });

  test('retries at once without a backoff, and never without retry', async () => {
    expect((await attempts(policyOf({ retry: 3 }), status(500))).times).toEqual([0, 0, 0, 0]);
    expect((await attempts(policyOf({ deadLetterSink: { uri: 'http://x/' } }), status(500))).times).toEqual([0]);
  });
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
