import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a kubeconfig, for its owner only, making its folder; throws one line that says what to do where it cannot. */
export async function writeKubeconfig(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode: 0o600 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const why = causes[code] ?? code;
    throw new Error(`expected to write the kubeconfig to ${file}, found ${why}: choose another file with --kubeconfig`);
  }
}

const causes: Readonly<Record<string, string>> = {
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'a read-only file system',
  EISDIR: 'a folder there',
  ENOTDIR: 'a file where a folder is needed',
  EEXIST: 'a file where a folder is needed',
  ENOSPC: 'no space left',
};
