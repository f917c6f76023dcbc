import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { states } from './states.ts';

const isGoThere = spawnSync('go', ['version']).status === 0;
if (!isGoThere) console.log('skipped: kstatus and the Lua of Argo CD are asked only where there is Go');

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

test.skipIf(!isGoThere)(
  'kstatus itself, and Argo CD with our Lua, tell every state',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ot-kstatus-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const scripts = parse(readFileSync(here('../../../deploy/production/health/argocd-cm.yaml'), 'utf8')) as {
      data: Record<string, string>;
    };
    const [script = '', ...others] = Object.values(scripts.data);
    expect(new Set(others)).toEqual(new Set([script]));
    writeFileSync(join(folder, 'health.lua'), script);
    execFileSync('go', ['build', '-o', join(folder, 'kstatus'), '.'], { cwd: here('kstatus') });
    const input = states.map(({ image }) => JSON.stringify(image)).join('\n');
    const out = execFileSync(join(folder, 'kstatus'), [join(folder, 'health.lua')], { input, encoding: 'utf8' });
    const found = out.trim().split('\n');
    expect(found.map((line, index) => `${states[index]?.state}: ${line}`)).toEqual(
      states.map(({ state, kstatus, argo }) => `${state}: ${kstatus} ${argo}`),
    );
  },
  600_000,
);
