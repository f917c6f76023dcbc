import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { loadAllFunctions } from './functions.ts';
import { header } from './manifest.ts';
import { filesOf } from './manifests.ts';

const outputFolder = new URL('./', import.meta.url);

/** The generated files of a folder that differ from what the functions declare, left-over ones included. */
export async function drift(wanted: ReadonlyMap<string, string>, folder: URL = outputFolder): Promise<string[]> {
  const found = await generatedIn(folder);
  return [...new Set([...wanted.keys(), ...found.keys()])]
    .filter((name) => wanted.get(name) !== found.get(name))
    .sort();
}

/** Makes the folder hold exactly these generated files; files written by hand are left alone. Returns what changed. */
export async function write(wanted: ReadonlyMap<string, string>, folder: URL = outputFolder): Promise<string[]> {
  const changed = await drift(wanted, folder);
  for (const name of changed) {
    const text = wanted.get(name);
    const file = new URL(name, folder);
    await mkdir(new URL('./', file), { recursive: true });
    await (text === undefined ? rm(file) : writeFile(file, text));
  }
  return changed;
}

async function generatedIn(folder: URL): Promise<Map<string, string>> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.yaml'));
  const files = await Promise.all(
    names.map(async (name) => [name, await readFile(new URL(name, folder), 'utf8')] as const),
  );
  return new Map(files.filter(([, text]) => text.startsWith(header)));
}

if (import.meta.main) {
  const wanted = filesOf(await loadAllFunctions());
  if (process.argv.includes('--check')) {
    const drifted = await drift(wanted);
    if (drifted.length > 0) {
      console.error(`knative/ differs from what functions/ declares: ${drifted.join(', ')}. Run "npm run generate".`);
      process.exitCode = 1;
    }
  } else {
    const changed = await write(wanted);
    console.log(changed.length > 0 ? `wrote knative/: ${changed.join(', ')}` : 'knative/: nothing to change');
  }
}
