import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { healthCheckExprs } from './flux.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** kstatus, the Lua engine of Argo CD and Flux's evaluator of expressions are built with Go. */
export const isGoThere = spawnSync('go', ['version']).status === 0;

/** The Lua that Argo CD is given for our kinds, each the same. */
export async function argoScripts(): Promise<string[]> {
  const text = await readFile(here('../../../deploy/production/health/argocd-cm.yaml'), 'utf8');
  return Object.values((parse(text) as { data: Record<string, string> }).data);
}

/** What kstatus, Argo CD with our Lua, and Flux with our expressions take each image for; the program is built in the folder first. */
export async function askKstatus(
  folder: string,
  objects: readonly object[],
): Promise<{ kstatus: string; argo: string; flux: string }[]> {
  const [script = ''] = await argoScripts();
  const [program, lua, flux] = [join(folder, 'kstatus'), join(folder, 'health.lua'), join(folder, 'flux.json')];
  await writeFile(lua, script);
  await writeFile(flux, JSON.stringify(healthCheckExprs[0]));
  const run = promisify(execFile);
  // A download may stand still; the first build takes minutes.
  await run('go', ['build', '-o', program, '.'], { cwd: here('kstatus'), timeout: 420_000, killSignal: 'SIGKILL' });
  const asked = run(program, [lua, flux]);
  asked.child.stdin?.end(objects.map((object) => JSON.stringify(object)).join('\n'));
  const lines = (await asked).stdout.trim().split('\n');
  return lines.map((line) => {
    const [kstatus = '', argo = '', found = ''] = line.split(' ');
    return { kstatus, argo, flux: found };
  });
}
