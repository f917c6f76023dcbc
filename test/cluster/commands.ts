import { execFile } from 'node:child_process';
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

/** `npm run cluster -- …` in a checkout. */
export const runInstallerOf = (folder: string, ...args: string[]) =>
  ran(join(folder, 'deploy/cli/install/main.ts'), [...args, ...(args[0] === 'check' ? [] : ['--timeout', '4m'])]);

/** `npm run cluster -- …` */
export const runInstaller = (...args: string[]) => runInstallerOf(here, ...args);

/** `ot-functions …` */
export const runCommandLine = (...args: string[]) => ran(join(here, 'deploy/cli/launch.mjs'), args);
