import { access, readdir } from 'node:fs/promises';
import type { FunctionDeclaration } from '../shared/function.ts';

const functionsFolder = new URL('../functions/', import.meta.url);

/** True for what is installed wherever the cluster can run it; the functions of OpenStack are installed by choice. */
export const isByDefault = ({ part }: FunctionDeclaration) => part !== 'openstack';

/** The functions of an installation, with those of OpenStack where it is asked for. */
export async function loadFunctions({ openStack = false } = {}): Promise<FunctionDeclaration[]> {
  return (await loadAllFunctions()).filter((declaration) => openStack || isByDefault(declaration));
}

/** All declared functions, by name: the default export of every functions/<name>/index.ts. Throws if it is not a declaration. */
export async function loadAllFunctions(): Promise<FunctionDeclaration[]> {
  const entries = await readdir(functionsFolder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const found = await Promise.all(names.sort().map(loadFunction));
  return found.filter((declaration) => declaration !== undefined);
}

async function loadFunction(name: string): Promise<FunctionDeclaration | undefined> {
  const file = new URL(`${name}/index.ts`, functionsFolder);
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
