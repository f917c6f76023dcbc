import { ApiError, NoAnswer } from '../../shared/runtime/errors.ts';
import { UsageError } from '../terminal/arguments.ts';
import { exit, NotFound, Unreachable } from './command.ts';

/** The exit code for an error that a command threw, as --help and the README document it. */
export function codeOf(error: unknown): number {
  if (error instanceof UsageError) return exit.usage;
  if (error instanceof NotFound) return exit.missing;
  if (error instanceof Unreachable || error instanceof NoAnswer) return exit.unreachable;
  return error instanceof ApiError && isNoAnswer(error.status) ? exit.unreachable : exit.failed;
}

/** The API server denies this account access, or is unavailable. */
const isNoAnswer = (status: number) => [401, 403, 429].includes(status) || status >= 500;
