import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const refuses = `import { registerHooks } from 'node:module';
registerHooks({ resolve(name, context, next) {
  if (name.includes('@kubernetes/client-node')) throw new Error('read for nothing');
  return next(name, context);
} });`;

/** Runs the command line with a hook that fails if the client library for Kubernetes is loaded, which takes longer than everything else. */
const without = (...args: string[]) =>
  spawnSync(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(refuses)}`, main, ...args], {
    encoding: 'utf8',
  });

test.each([
  ['--help'],
  ['--version'],
  ['status', '--help'],
  ['doctor', '--help'],
  ['completion', 'bash'],
  ['__complete', 'statu'],
])('%s %s needs no cluster, and does not load the client library', (...args) => {
  expect(without(...args)).toMatchObject({ status: 0, stderr: '' });
});

test('a command that needs a cluster loads it', () => {
  expect(without('status').stderr).toContain('read for nothing');
});
