import type { Clock } from '../clock.ts';
import { delay } from '../clock.ts';
import type { Delivery } from './resources.ts';

/** What came of one attempt: an answer, or none at all (refused connection, timeout). */
export type Outcome = { response: Response } | { error: Error };

/** How an attempt that failed is repeated. */
export interface RetryPolicy {
  retry: number;
  /** Before the next attempt, after `failures` of them counted from 0. */
  backoffMs(failures: number): number;
  timeoutMs?: number | undefined;
  isRetried(outcome: Outcome): boolean;
}

export const isSuccess = (outcome: Outcome): outcome is { response: Response } =>
  'response' in outcome && outcome.response.ok;

/** The retries of a Broker or Trigger (Knative's SelectiveRetry): 5xx, 404, 408, 409, 429 and no answer at all. */
export function policyOf(delivery: Delivery = {}): RetryPolicy {
  const delayMs = durationMs(delivery.backoffDelay ?? 'PT0S');
  return {
    retry: delivery.retry ?? 0,
    backoffMs: (failures) =>
      delivery.backoffPolicy === 'linear'
        ? delayMs * failures
        : delivery.backoffPolicy === 'exponential'
          ? delayMs * 2 ** failures
          : 0,
    timeoutMs: delivery.timeout === undefined ? undefined : durationMs(delivery.timeout),
    isRetried: (outcome) =>
      'error' in outcome || outcome.response.status >= 500 || [404, 408, 409, 429].includes(outcome.response.status),
  };
}

/** The five retries of the adapters of ApiServerSource and PingSource; a 500 is not among them: the event is lost. */
export const adapterPolicy: RetryPolicy = {
  retry: 5,
  backoffMs: (failures) => 100 * 2 ** failures,
  isRetried: (outcome) => 'error' in outcome || [404, 413, 425, 429, 502, 503, 504].includes(outcome.response.status),
};

/** Sends until the event is accepted, finally refused, or the retries are used up; returns the last outcome. */
export async function sendWithRetries(
  send: (signal: AbortSignal) => Promise<Response>,
  policy: RetryPolicy,
  { clock, signal, onRetry }: { clock: Clock; signal: AbortSignal; onRetry?: () => void },
): Promise<Outcome> {
  for (let failures = 0; ; failures++) {
    const outcome = await attempt(send, policy.timeoutMs, clock, signal);
    signal.throwIfAborted();
    if (isSuccess(outcome) || failures >= policy.retry || !policy.isRetried(outcome)) return outcome;
    onRetry?.();
    const pauseMs = policy.backoffMs(failures);
    if (pauseMs > 0) await delay(clock, pauseMs, signal);
  }
}

async function attempt(
  send: (signal: AbortSignal) => Promise<Response>,
  timeoutMs: number | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<Outcome> {
  const timeout = new AbortController();
  const either = AbortSignal.any([signal, timeout.signal]);
  const expire = () => timeout.abort(new Error(`no answer within ${timeoutMs} ms`));
  const off = timeoutMs === undefined ? () => {} : clock.after(timeoutMs, expire);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  either.addEventListener('abort', () => reject(either.reason), { once: true });
  try {
    return { response: await Promise.race([send(either), aborted]) };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  } finally {
    off();
  }
}

/** Milliseconds of an ISO 8601 duration of days and below, such as PT0.2S; throws for an invalid one. */
export function durationMs(text: string): number {
  const parts = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (!parts || text === 'P' || text.endsWith('T')) {
    throw new Error(`expected an ISO 8601 duration such as PT0.2S, found "${text}"`);
  }
  const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
  return Math.round(((((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1000);
}
