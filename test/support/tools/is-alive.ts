import { readdir, readFile } from 'node:fs/promises';

/** Whether a process of that program exists and holds resources, such as a port. */
export async function isAlive(name: string, pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  return holdsAnything(name, stat, threads.length);
}

/**
 * The same by its line in /proc/<pid>/stat and the number of its threads. An end takes time: its memory, and the command line in it, is
 * given back before its files are. Both are once it is a zombie without threads.
 */
export function holdsAnything(name: string, stat: string, threads: number): boolean {
  const [, command, state = ''] = /^\d+ \((.*)\) (\S)/s.exec(stat) ?? [];
  return command === name.slice(0, longestName) && (threads > 1 || !/[ZX]/.test(state));
}

/** Linux cuts the name of a process there. */
const longestName = 15;
