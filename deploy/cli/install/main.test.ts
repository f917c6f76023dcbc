import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('main.ts', import.meta.url));

const outcomeOf = (...args: string[]) =>
  promisify(execFile)(process.execPath, [program, ...args], {
    env: { ...process.env, KUBECONFIG: '/none/of/that' },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );

test('a wrong command line and an unknown cluster are reported in one line, without a stack trace', async () => {
  const [typed, elsewhere] = await Promise.all([outcomeOf('instal'), outcomeOf('check')]);
  expect([typed.code, typed.stderr]).toEqual([2, expect.stringContaining('found instal')]);
  expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining('/none/of/that')]);
  for (const { stderr } of [typed, elsewhere]) expect(stderr).not.toContain('    at ');
});
