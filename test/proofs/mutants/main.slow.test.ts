import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from './try-mutant.ts';

test('every mistake is noticed by a test', async () => {
  const run = promisify(execFile)(process.execPath, ['test/proofs/mutants/main.ts'], { cwd: root });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  expect(stdout).toMatch(/\n\d+ found, 0 survived\n$/);
}, 600_000);
