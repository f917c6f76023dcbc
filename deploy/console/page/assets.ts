import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** A file that the page is made of. */
export interface Asset {
  type: string;
  text: string;
}

const types = { html: 'text/html; charset=utf-8', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };

const pageFiles = ['console.html', 'login.html', 'login.js', 'console.css', 'console.js', 'icon.svg'] as const;

/** The files of the page by their names. In the image all of them lie in one folder, the script as one file without types. */
export async function readAssets(folder: URL = new URL('.', import.meta.url)): Promise<ReadonlyMap<string, Asset>> {
  const read = async (name: string) => {
    const text = await readFile(new URL(name, folder), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT' || name !== 'console.js') throw error;
      return bundled(new URL('console.ts', folder));
    });
    return [name, { type: types[name.split('.').at(-1) as keyof typeof types], text }] as const;
  };
  return new Map(await Promise.all(pageFiles.map(read)));
}

/** Only a checkout has no script yet, and there is what makes it. */
async function bundled(script: URL): Promise<string> {
  const { build } = await import('esbuild');
  const options = { bundle: true, write: false, format: 'esm', target: 'es2023', charset: 'utf8' } as const;
  const { outputFiles } = await build({ entryPoints: [fileURLToPath(script)], ...options });
  return outputFiles[0]?.text ?? '';
}
