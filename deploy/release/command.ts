import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { inputsOf, requireInModules, sbomOfInputs, shakeClient } from '../image/bundle.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The bundled command line and its SBOM. */
interface BundledCommand {
  text: string;
  sbom: string;
}

/**
 * The command line as one file, which needs Node.js and nothing else: these manifests are in it (deploy/project-folder.ts), and
 * `install` takes that image if none is named.
 */
export async function bundleCommand(image: string, manifests: ReadonlyMap<string, string>): Promise<BundledCommand> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['deploy/cli/bundled.ts'],
    write: false,
    bundle: true,
    // Needed only by code that the bundled command line never runs.
    external: ['esbuild'],
    minifySyntax: true,
    minifyWhitespace: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    define: {
      'process.env.OT_FILES': JSON.stringify(JSON.stringify(Object.fromEntries(manifests))),
      'process.env.OT_RELEASED_IMAGE': JSON.stringify(image),
    },
    banner: { js: `#!/usr/bin/env node\n${requireInModules}` },
    plugins: [shakeClient],
    logLevel: 'warning',
    metafile: true,
  });
  return { text: outputFiles[0]?.text ?? '', sbom: await sbomOfInputs(inputsOf(metafile)) };
}
