import { Again, ApiError } from './errors.ts';

/** One line of a function's log; `more` are further fields of it. */
export const log = (level: 'warn' | 'error', name: string, message: string, more: object = {}) =>
  console.error(JSON.stringify({ level, function: name, message: message.slice(0, 500), ...more }));

/** Why an event is redelivered is for the operator's log, never for the sender. */
export function logError(name: string, error: unknown): void {
  if (error instanceof Again) return;
  log('error', name, error instanceof ApiError ? `${error.status} ${error.reason}: ${error.message}` : String(error));
}
