import { expect, test } from 'vitest';
import { ApiError, NoAnswer } from '../../shared/runtime/errors.ts';
import { UsageError } from '../terminal/arguments.ts';
import { NotFound, Unreachable } from './command.ts';
import { codeOf } from './exit-code.ts';

const answered = (status: number) => new ApiError(status, '', '');

test.each([
  [1, 'what failed', new Error('x'), answered(404), answered(409), answered(422)],
  [2, 'a wrong option', new UsageError('x')],
  [3, 'no API server, or none for this account', answered(401), answered(403), answered(429), answered(503)],
  [3, 'no connection', new NoAnswer('x'), new Unreachable('x')],
  [4, 'a missing object', new NotFound('x')],
])('a command ends with %i for %s', (code, _, ...errors) => {
  expect(errors.map(codeOf)).toEqual(errors.map(() => code));
});
