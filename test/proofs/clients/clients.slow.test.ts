import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalCluster, startLocal } from '../../../deploy/local/start.ts';
import { buildGo, goMissing } from '../../support/tools/go.ts';

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'ot-clients-'));
const kubeconfig = join(folder, 'kubeconfig');
let local: LocalCluster;

beforeAll(async () => {
  local = await startLocal();
  writeFileSync(kubeconfig, local.server.kubeconfig());
});
afterAll(async () => {
  await local.close();
  rmSync(folder, { recursive: true });
});

const languages = [
  { name: 'Go', isThere: goMissing === undefined, prepare: buildSmoke, calls: 49 },
  {
    name: 'Python',
    isThere: spawnSync('python3', ['-c', 'import venv, ensurepip']).status === 0,
    prepare: installPython,
    calls: 31,
  },
];

for (const { name, isThere, prepare, calls } of languages) {
  if (!isThere)
    console.log(`skipped: the calls of the client library for ${name} are made only where there is ${name}`);
  test.skipIf(!isThere)(
    `the local cluster answers the client library for ${name} as it expects`,
    async () => {
      const [program, ...args] = await prepare();
      const { stdout } = await run(program, [...args, kubeconfig], { timeout: 120_000 });
      const lines = stdout.trim().split('\n');
      expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
      expect(lines).toHaveLength(calls);
    },
    600_000,
  );
}

async function buildSmoke(): Promise<[string, ...string[]]> {
  return [await buildGo(new URL('go', import.meta.url), folder)];
}

/** A download may stall. */
const withinTime = { timeout: 420_000, killSignal: 'SIGKILL' } as const;

async function installPython(): Promise<[string, ...string[]]> {
  const venv = join(folder, 'venv');
  await run('python3', ['-m', 'venv', venv], withinTime);
  await run(join(venv, 'bin/pip'), ['install', '--quiet', '-r', here('python/requirements.txt')], withinTime);
  return [join(venv, 'bin/python'), here('python/smoke.py')];
}
