import { access, readdir } from 'node:fs/promises';
import type { FunctionDeclaration, Part } from '../shared/function.ts';

const functionsFolder = new URL('../functions/', import.meta.url);

/** The functions that every installation has, and those of a part where one is named; throws for a folder that holds none. */
export async function loadFunctions(folder: URL = functionsFolder, part?: Part): Promise<FunctionDeclaration[]> {
  const all = await loadAllFunctions(folder);
  return all.filter((declaration) => declaration.part === undefined || declaration.part === part);
}

/** All declared functions, by name: the default export of every functions/<name>/index.ts. Throws if it is not a declaration. */
export async function loadAllFunctions(folder: URL = functionsFolder): Promise<FunctionDeclaration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const found = await Promise.all(names.sort().map((name) => loadFunction(folder, name)));
  return found.filter((declaration) => declaration !== undefined);
}

async function loadFunction(folder: URL, name: string): Promise<FunctionDeclaration | undefined> {
  const file = new URL(`${name}/index.ts`, folder);
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const module: { default?: Partial<FunctionDeclaration> } = await import(file.href);
  const declared = module.default;
  if (!isDeclaration(declared) || declared.name !== name) {
    throw new Error(
      `functions/${name}/index.ts: expected export default defineFunction({ name: '${name}', ... }), found ${declared?.name ? `the name '${declared.name}'` : 'none'}`,
    );
  }
  return declared;
}

const isDeclaration = (value: Partial<FunctionDeclaration> | undefined): value is FunctionDeclaration =>
  typeof value === 'object' &&
  Array.isArray(value.on) &&
  Array.isArray(value.may) &&
  typeof value.decide === 'function';
