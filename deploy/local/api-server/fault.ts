import type { ServerResponse } from 'node:http';
import { type Clock, delay } from '../clock.ts';
import { StatusError } from './status-error.ts';

/** What a test lets go wrong with a request: refused with a status, answered late, or done but never answered. */
export type Fault = { status: number } | { delayMs: number } | { loseAnswer: true };

/** Asked before each request what is to go wrong with it. */
export type Intercept = (request: { method: string; path: string; user: string }) => Fault | undefined;

/** Lets happen to a request what it was asked for; throws the refusal, or returns when the request may go on. */
export async function meetFault(clock: Clock, fault: Fault | undefined, response: ServerResponse) {
  if (!fault) return;
  if ('delayMs' in fault) return delay(clock, fault.delayMs);
  if ('loseAnswer' in fault) {
    response.end = () => response.destroy();
    return;
  }
  const { status } = fault;
  const details = status === 429 || status === 503 ? { retryAfterSeconds: 1 } : {};
  throw new StatusError(status, reasons[status] ?? 'Unknown', `refused on purpose with ${status}`, details);
}

const reasons: Record<number, string> = {
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};
