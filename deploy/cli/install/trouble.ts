import { ApiError, NoAnswer } from '../../../shared/runtime/errors.ts';

/** A problem with the API server in one line that a user can act on; undefined for any other error. */
export function describeTrouble(error: unknown): string | undefined {
  if (error instanceof ApiError) return `the API server answered ${error.status}: ${error.message}`;
  if (error instanceof NoAnswer) return `the API server cannot be reached: ${error.message}`;
  if (error instanceof TypeError && error.message === 'fetch failed') {
    const { cause } = error;
    return `the API server cannot be reached: ${describeCause(cause)}`;
  }
  return undefined;
}

/** If a host has several addresses, each has failed and the aggregate has no message. */
const describeCause = (cause: unknown): string => {
  if (cause instanceof AggregateError) return cause.errors.map(describeCause).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
};
