import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** In the bundled command line (deploy/release/command.ts) the project's manifests as JSON, path → text; a checkout has them on disk. */
const bundled = process.env.OT_FILES;

let folder: string | undefined;

/**
 * The folder that has the project's manifests by their paths, with a slash at its end: the checkout, or a temporary folder in which the
 * bundled command line puts what it brings, for kustomize reads files only. It is deleted when the process ends.
 */
export function projectFolder(): string {
  folder ??= bundled === undefined ? fileURLToPath(new URL('../', import.meta.url)) : unpacked(bundled);
  return folder;
}

/** True in the bundled command line, which has manifests and no sources. */
export const isBundled = bundled !== undefined;

function unpacked(files: string): string {
  const temporary = mkdtempSync(join(tmpdir(), 'ot-functions-'));
  process.once('exit', () => rmSync(temporary, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(JSON.parse(files) as Record<string, string>)) {
    mkdirSync(join(temporary, dirname(path)), { recursive: true });
    writeFileSync(join(temporary, path), text);
  }
  return `${temporary}/`;
}
