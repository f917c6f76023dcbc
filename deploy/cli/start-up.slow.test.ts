import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const refuses = `import { registerHooks } from 'node:module';
registerHooks({ resolve(name, context, next) {
  if (name.includes('@kubernetes/client-node')) throw new Error('read for nothing');
  return next(name, context);
} });`;

/** The command line where nothing may read the library for Kubernetes, which takes longer than all the rest. */
const without = (...args: string[]) =>
  spawnSync(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(refuses)}`, main, ...args], {
    encoding: 'utf8',
  });

test.each([['--help'], ['status', '--help'], ['doctor', '--help'], ['completion', 'bash']])(
  '%s %s asks no cluster, and reads nothing for one',
  (...args) => {
    expect(without(...args)).toMatchObject({ status: 0, stderr: '' });
  },
);

test('what asks a cluster does', () => {
  expect(without('status').stderr).toContain('read for nothing');
});
