import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../../../deploy/cli/launch.mjs', import.meta.url));

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Runs the real command line as a process, with its output in pipes. */
export const otIn = (env: Record<string, string>, ...args: string[]) =>
  new Promise<Ended>((resolve) => {
    const child = spawn(process.execPath, [launcher, ...args], { env: { ...process.env, ...env }, stdio: 'pipe' });
    const text = { out: '', err: '' };
    for (const [name, stream] of [['out', child.stdout] as const, ['err', child.stderr] as const]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text[name] += chunk;
      });
    }
    child.on('close', (code) => resolve({ code, ...text }));
  });
