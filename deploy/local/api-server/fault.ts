import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Clock, delay } from '../clock.ts';
import { StatusError } from './status-error.ts';

/**
 * What a test lets go wrong with a request: refused with a status, and in words that may quote its body as a webhook's would,
 * answered late, or done but never answered.
 */
export type Fault = { status: number; says?(body: string): string } | { delayMs: number } | { loseAnswer: true };

/** Asked before each request what is to go wrong with it. */
export type Intercept = (request: { method: string; path: string; user: string }) => Fault | undefined;

/** Lets happen to a request what it was asked for; throws the refusal, or returns when the request may go on. */
export async function meetFault(
  clock: Clock,
  fault: Fault | undefined,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
) {
  if (!fault) return;
  if ('delayMs' in fault) return delay(clock, fault.delayMs);
  if ('loseAnswer' in fault) {
    response.end = () => response.destroy();
    return;
  }
  const { status, says } = fault;
  const message = says?.(await text(request)) ?? `refused on purpose with ${status}`;
  const details = status === 429 || status === 503 ? { retryAfterSeconds: 1 } : {};
  throw new StatusError(status, reasons[status] ?? 'Unknown', message, details);
}

const reasons: Record<number, string> = {
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};
