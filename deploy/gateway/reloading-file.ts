import { readFile } from 'node:fs/promises';

/** What a set of files says, as it was when they were last looked at. */
interface Reread<T> {
  current(): T;
  /** Reads the files again; true where they said something new that could be used. */
  check(): Promise<boolean>;
}

/**
 * Reads files that change under a running process. Throws where they cannot be used at first; later the last good ones stay, and
 * `complain` hears why. They are compared by content: a kubelet swaps whole folders, so that watching one file would miss it.
 */
export async function reloadingFile<T>(
  paths: readonly string[],
  use: (...texts: string[]) => T,
  complain: (why: string) => void,
): Promise<Reread<T>> {
  const read = () => Promise.all(paths.map((path) => readFile(path, 'utf8')));
  let texts = await read();
  let current = use(...texts);
  return {
    current: () => current,
    async check() {
      try {
        const found = await read();
        if (found.every((text, index) => text === texts[index])) return false;
        texts = found;
        current = use(...found);
        return true;
      } catch (error) {
        complain(`${paths.join(', ')}: ${error instanceof Error ? error.message : error}; what was read before stays`);
        return false;
      }
    },
  };
}
