import { ApiError, NoAnswer } from '../../../shared/runtime/errors.ts';
import { oneLine } from '../../../shared/sentence.ts';

/** A problem with the API server in one line that a user can act on; undefined for any other error. */
export function describeTrouble(error: unknown): string | undefined {
  if (error instanceof ApiError) return `the API server answered ${error.status}: ${oneLine(error.message)}`;
  if (error instanceof NoAnswer) return `the API server cannot be reached: ${oneLine(error.message)}`;
  return undefined;
}
