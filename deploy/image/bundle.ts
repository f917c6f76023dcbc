import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { loadAllFunctions } from '../../knative/functions.ts';
import { readAssets } from '../console/page/assets.ts';
import { sbomOf } from './sbom.ts';

const root = new URL('../../', import.meta.url);

/** Where the bundle goes that deploy/image/Dockerfile copies. */
export const bundleFolder = fileURLToPath(new URL('deploy/image/dist/', root));

/** Makes one bundle of all functions and all they need, with the list of other people's packages in it; each function is a file that only its own pods load. */
export async function bundle(folder: string = bundleFolder): Promise<void> {
  const inputs = await bundleProgram('deploy/image/main.ts', folder);
  await copyPage(folder);
  await writeFile(join(folder, 'sbom.cdx.json'), await sbomOfInputs(inputs));
}

const jsonOf = async (name: string) => JSON.parse(await readFile(new URL(name, root), 'utf8'));

/** Makes `main.mjs` of a program that serves functions, in an empty folder; resolves with the files that it has something of. */
export async function bundleProgram(entryPoint: string, folder: string): Promise<string[]> {
  await rm(folder, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: fileURLToPath(root),
    entryPoints: { main: entryPoint },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Only a checkout asks for it (deploy/console/page/assets.ts).
    external: ['esbuild'],
    splitting: true,
    // Names stay as they are, so that stack traces can be read; to keep them beside short ones costs a tenth of a start.
    minifySyntax: true,
    minifyWhitespace: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    define: { 'process.env.OT_FUNCTIONS': JSON.stringify((await functionNames()).join(',')) },
    banner: { js: requireInModules },
    plugins: [shakeClient],
    logLevel: 'warning',
    metafile: true,
  });
  return inputsOf(metafile);
}

/** The files that a bundle has something of. */
export const inputsOf = ({ outputs }: Metafile): string[] =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((name) => (inputs[name]?.bytesInOutput ?? 0) > 0),
  );

/** The list of other people's packages that these files are of. */
export async function sbomOfInputs(inputs: readonly string[]): Promise<string> {
  const [own, { packages }] = await Promise.all(['package.json', 'package-lock.json'].map(jsonOf));
  return JSON.stringify(sbomOf(inputs, own, packages), undefined, 2);
}

/** The console's page beside the bundle, its script without types. */
async function copyPage(folder: string): Promise<void> {
  for (const [name, { text }] of await readAssets()) await writeFile(join(folder, name), text);
}

const functionNames = async () => (await loadAllFunctions()).map(({ name }) => name);

/** For those packages that are not ES modules. */
export const requireInModules =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";

/** The client's package does not say that its generated API of 20 MB may be left out where no one uses it. */
export const shakeClient: Plugin = {
  name: 'shake the Kubernetes client',
  setup(build) {
    const here = { isResolving: true };
    build.onResolve(
      { filter: /^\.|^@kubernetes\/client-node$/ },
      async ({ path, importer, resolveDir, kind, pluginData }) => {
        const isClient = path.startsWith('@') || importer.includes('/@kubernetes/client-node/');
        if (!isClient || pluginData === here) return undefined;
        const found = await build.resolve(path, { importer, resolveDir, kind, pluginData: here });
        return { ...found, sideEffects: false };
      },
    );
  },
};
