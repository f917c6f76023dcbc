import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { buildGo } from '../../support/tools/go.ts';
import { healthCheckExprs } from './flux.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The Lua that Argo CD is given for our kinds, each the same. */
export async function argoScripts(): Promise<string[]> {
  const text = await readFile(here('../../../deploy/production/health/argocd-cm.yaml'), 'utf8');
  return Object.values((parse(text) as { data: Record<string, string> }).data);
}

/** What kstatus, Argo CD with our Lua, and Flux with our expressions report for each image; the program is built in the folder, with Go. */
export async function askKstatus(
  folder: string,
  objects: readonly object[],
): Promise<{ kstatus: string; argo: string; flux: string }[]> {
  const [script = ''] = await argoScripts();
  const [lua, flux] = [join(folder, 'health.lua'), join(folder, 'flux.json')];
  await writeFile(lua, script);
  await writeFile(flux, JSON.stringify(healthCheckExprs[0]));
  const asked = promisify(execFile)(await buildGo(new URL('kstatus', import.meta.url), folder), [lua, flux]);
  asked.child.stdin?.end(objects.map((object) => JSON.stringify(object)).join('\n'));
  const lines = (await asked).stdout.trim().split('\n');
  return lines.map((line) => {
    const [kstatus = '', argo = '', found = ''] = line.split(' ');
    return { kstatus, argo, flux: found };
  });
}
