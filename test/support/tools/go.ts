import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Why no Go program can be built here; undefined if one can. */
export const goMissing = spawnSync('go', ['version']).status === 0 ? undefined : 'expected Go on the PATH, found none';

/** Builds the Go program whose module is in the folder `source`, and returns its path in `folder`. */
export async function buildGo(source: URL, folder: string): Promise<string> {
  const program = join(folder, 'program');
  // A download may stall; the first build of a module takes minutes.
  const within = { cwd: fileURLToPath(source), timeout: 420_000, killSignal: 'SIGKILL' } as const;
  await promisify(execFile)('go', ['build', '-o', program, '.'], within);
  return program;
}
