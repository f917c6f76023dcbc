import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A command of the local cluster that a test has started, as from a pipe. */
export interface Spawned {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves with what was found once stdout or stderr has it; rejects with all of both if the command ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
  /** What the command has left in its folder for temporary files. */
  leftOver(): Promise<string[]>;
  /** Ends it if it still runs, and clears up. */
  dispose(): Promise<void>;
}

/** Starts `node deploy/local/<script>` with a folder for temporary files of its own. */
export async function spawned(script: string, ...args: string[]): Promise<Spawned> {
  const folder = await mkdtemp(join(tmpdir(), 'spawned-'));
  const file = fileURLToPath(new URL(`../../../deploy/local/${script}`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], { env: { ...process.env, TMPDIR: folder }, stdio: 'pipe' });
  const text = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      text[stream] += chunk;
      for (const look of listeners) look();
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const until = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(text.stdout) ?? pattern.exec(text.stderr);
        if (found) resolve(found);
      };
      listeners.add(look);
      look();
      void ended.then((code) =>
        reject(new Error(`ended with ${code} before ${pattern}:\n${text.stdout}${text.stderr}`)),
      );
    });
  return {
    child,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    until,
    ended,
    leftOver: () => readdir(folder),
    dispose: async () => {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
