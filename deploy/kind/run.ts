import { spawn } from 'node:child_process';

/** Runs a program; resolves with its output, rejects with its error output. */
export type Run = (command: string, args: readonly string[], options?: RunOptions) => Promise<string>;

interface RunOptions {
  /** Its standard input. */
  input?: string;
  cwd?: string;
}

/** A program that was not found, or that failed. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** Runs a program of this machine. */
export const run: Run = (command, args, { input, cwd } = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      said.out += chunk;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      said.err += chunk;
    });
    child.on('error', (error) => reject(new CommandError(`${command}: ${error.message}`)));
    child.on('close', (code) => {
      if (code === 0) return resolve(said.out);
      reject(
        new CommandError(`${[command, ...args].join(' ')} ended with ${code}: ${lastLines(said.err || said.out)}`),
      );
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });

const lastLines = (text: string) => text.trimEnd().split('\n').slice(-8).join('\n');
