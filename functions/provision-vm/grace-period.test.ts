import { expect, test } from 'vitest';
import { parsePolicy } from '../../shared/policy.ts';
import { judge } from './grace-period.ts';

const said = (message: string) =>
  judge(
    { reason: 'LaunchFailed', message, weight: 'trouble' },
    { before: undefined, policy: parsePolicy(undefined), nowMs: 0, crashes: 0 },
  ).message;

test('words of others, which end without a full stop, are a sentence of their own', () => {
  const heals = 'Failed if that lasts 5m; it may recover by itself.';
  expect(said('PVC lab/db-1-root does not exist, waiting for it to appear')).toBe(
    `PVC lab/db-1-root does not exist, waiting for it to appear. ${heals}`,
  );
  expect(said('The node is lost.')).toBe(`The node is lost. ${heals}`);
});
