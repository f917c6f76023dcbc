import { access, mkdir, rmdir, writeFile } from 'node:fs/promises';

/** Where a process starts that may have only so much memory, as the container of a pod: Node chooses the sizes of its heaps by it. */
export interface MemoryLimit {
  /** What starts such a process, before its own command line. */
  command: readonly string[];
  /** After its end. */
  remove(): Promise<void>;
}

/** The files of the limit in Linux' two versions of control groups, of which a machine has one. */
const versions = [
  ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
  ['/sys/fs/cgroup', 'memory.max'],
] as const;

/** Undefined without Linux and root, which a limit needs. */
export async function limitMemory(name: string, bytes: number): Promise<MemoryLimit | undefined> {
  for (const [parent, limit] of versions) {
    const group = `${parent}/${name}`;
    const made = await mkdir(group).then(
      () => true,
      () => false,
    );
    if (!made) continue;
    const isThere = await access(`${group}/${limit}`).then(
      () => true,
      () => false,
    );
    if (!isThere) {
      await rmdir(group);
      continue;
    }
    await writeFile(`${group}/${limit}`, `${bytes}`);
    return {
      command: ['sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$0" "$@"`],
      remove: () => rmdir(group),
    };
  }
  return undefined;
}
