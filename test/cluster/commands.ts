import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Ran } from './kubectl.ts';

/** Runs a program of this project as an admin would type it; resolves whatever its exit code. */
const ran = (program: string, args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const command = [fileURLToPath(new URL(program, import.meta.url)), ...args];
    const child = execFile(process.execPath, command, { timeout: 600_000 }, (error, out, err) =>
      resolve({ code: error ? (child.exitCode ?? 1) : 0, out, err }),
    );
  });

/** `npm run cluster -- …` */
export const runInstaller = (...args: string[]) =>
  ran('../../deploy/install/main.ts', [...args, ...(args[0] === 'check' ? [] : ['--timeout', '4m'])]);

/** `ot-functions …` */
export const runCommandLine = (...args: string[]) => ran('../../deploy/cli/launch.mjs', args);
