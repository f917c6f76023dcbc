import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const run = (...args: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [fileURLToPath(new URL('main.ts', import.meta.url)), ...args],
      (_, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });

test('--help describes the command, with examples, and starts nothing', async () => {
  const { code, out } = await run('--help');
  expect(code).toBe(0);
  expect(out).toContain('npm run soak -- 2 --seed 7');
});

test.each([
  [['0'], 'minutes: expected a whole number from 1 to 240, found "0"'],
  [['2', '3'], 'expected minutes and nothing else, found 3'],
  [['--seed', 'x'], '--seed: expected a whole number from 0 to 999999999, found "x"'],
  [['--minutes', '2'], "Unknown option '--minutes'; expected minutes, --seed, --json, --help"],
])('%j is refused in one line', async (args, said) => {
  const { code, err } = await run(...args);
  expect(code).toBe(2);
  expect(err).toContain(said);
  expect(err.trim().split('\n')).toHaveLength(1);
});
