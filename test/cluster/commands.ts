import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Ran } from './kubectl.ts';

/** Runs a program of this project as an admin would type it; resolves whatever its exit code. */
const ran = (program: string, args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const command = [program, ...args];
    const child = execFile(process.execPath, command, { timeout: 600_000 }, (error, out, err) =>
      resolve({ code: error ? (child.exitCode ?? 1) : 0, out, err }),
    );
  });

const here = fileURLToPath(new URL('../../', import.meta.url));

/** `ot-functions …` of a checkout of any release; earlier ones had an installer of their own. */
export async function runInstallerOf(folder: string, ...args: string[]): Promise<Ran> {
  const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Scripts;
  const program = join(folder, programOf(scripts.cluster ?? scripts.ot));
  return ran(program, [...args, ...(args[0] === 'check' ? [] : ['--timeout', '4m'])]);
}

/** What a script of package.json runs: its last word, after `node` and its options. */
export const programOf = (script: string): string => script.split(' ').at(-1) ?? '';

interface Scripts {
  scripts: { cluster?: string; ot: string };
}

/** The installer of this checkout. */
export const runInstaller = (...args: string[]) => runInstallerOf(here, ...args);

/** `ot-functions …` */
export const runCommandLine = (...args: string[]) => ran(join(here, 'deploy/cli/launch.mjs'), args);
