import { ApiError, NoAnswer } from '../../shared/runtime/errors.ts';

/** What went wrong with the API server in a line that one can act on; undefined where it was something else. */
export function describeTrouble(error: unknown): string | undefined {
  if (error instanceof ApiError) return `the API server answered ${error.status}: ${error.message}`;
  if (error instanceof NoAnswer) return `the API server cannot be reached: ${error.message}`;
  if (error instanceof TypeError && error.message === 'fetch failed') {
    const { cause } = error;
    return `the API server cannot be reached: ${describeCause(cause)}`;
  }
  return undefined;
}

/** Where a host has several addresses each has failed, and the whole says nothing. */
const describeCause = (cause: unknown): string => {
  if (cause instanceof AggregateError) return cause.errors.map(describeCause).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
};
