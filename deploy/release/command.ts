import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { inputsOf, requireInModules, sbomOfInputs, shakeClient } from '../bundle.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The bundled command line and the list of other people's packages in it. */
interface BundledCommand {
  text: string;
  sbom: string;
}

/**
 * The command line as one file, which needs Node.js and nothing else: its manifests are in it (deploy/project-folder.ts), and
 * `install` takes that image if none is named.
 */
export async function bundleCommand(image: string): Promise<BundledCommand> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['deploy/cli/bundled.ts'],
    write: false,
    bundle: true,
    // Only what the command line never does in a bundle asks for it.
    external: ['esbuild'],
    minifySyntax: true,
    minifyWhitespace: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    define: {
      'process.env.OT_FILES': JSON.stringify(JSON.stringify(Object.fromEntries(await manifestFiles(image)))),
      'process.env.OT_IMAGE': JSON.stringify(image),
    },
    banner: { js: `#!/usr/bin/env node\n${requireInModules}` },
    plugins: [shakeClient],
    logLevel: 'warning',
    metafile: true,
  });
  return { text: outputFiles[0]?.text ?? '', sbom: await sbomOfInputs(inputsOf(metafile)) };
}

/** What production overlays name until an admin does. */
const example = 'newName: registry.example/ot-functions\n    newTag: 0.1.0';

/** The manifests that kustomize reads, by their paths, with the release's image in the overlays of production. */
export async function manifestFiles(image: string): Promise<Map<string, string>> {
  const folders = ['crds', 'knative', 'deploy/base', 'deploy/production', 'deploy/monitoring'];
  const names = (await Promise.all(folders.map(filesIn))).flat().filter((name) => !isOther.test(name));
  const texts = names.map(async (name) => {
    const text = await readFile(join(root, name), 'utf8');
    return [name, text.replace(example, imageEntry(image))] as const;
  });
  return new Map(await Promise.all(texts));
}

const isOther = /^(?:crds\/examples|deploy\/production\/(?:chart|events|flux|health))\/|\.(?:ts|md)$/;

/** The paths of all files in a folder, sorted. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length).replaceAll('\\', '/'))
    .sort();
}

/** An image by its parts; a digest identifies it, whatever its tag. */
export function imageParts(image: string): { repository: string; tag: string; digest: string } {
  const [named = '', digest = ''] = image.split('@');
  const colon = named.indexOf(':', named.lastIndexOf('/'));
  return colon < 0
    ? { repository: named, tag: '', digest }
    : { repository: named.slice(0, colon), tag: named.slice(colon + 1), digest };
}

function imageEntry(image: string): string {
  const { repository, tag, digest } = imageParts(image);
  return `newName: ${repository}\n    ${digest ? `digest: ${digest}` : `newTag: ${tag}`}`;
}
