import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStoreFile, type StoreFile } from './api-server/store-file.ts';

/** Where a local cluster is kept between two starts, for one process at a time. */
export interface DataFolder {
  storeFile: StoreFile;
  /** A folder for the objects of an object store. */
  objects: string;
  /** There was no cluster in it. */
  isNew: boolean;
  close(): void;
}

/** The files of a cluster in its folder; other files are the user's own. */
const clusterFile = 'cluster.sqlite';
const ours = [clusterFile, `${clusterFile}-wal`, `${clusterFile}-shm`, 'objects', 'ports.json'];

/**
 * Opens the folder, creating it if necessary; `fresh` deletes the cluster that is in it. Throws one line that says
 * what to do where another process is at work in it, where it cannot be written, and for a cluster of another version.
 */
export function openDataFolder(folder: string, { fresh = false } = {}): DataFolder {
  const unlock = locked(folder);
  try {
    if (fresh) for (const name of ours) rmSync(join(folder, name), { recursive: true, force: true });
    const isNew = !readdirSync(folder).includes(clusterFile);
    const storeFile = openStoreFile(join(folder, clusterFile));
    const close = () => {
      storeFile.close();
      unlock();
    };
    return { storeFile, objects: join(folder, 'objects'), isNew, close };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Keeps others out until the returned function is called or the process ends, however it ends. */
function locked(folder: string): () => void {
  try {
    mkdirSync(folder, { recursive: true });
    const lock = new DatabaseSync(join(folder, 'lock'));
    try {
      lock.exec('BEGIN EXCLUSIVE');
      // Beside the lock, which no other process can read now; only for users, so it may stay behind.
      writeFileSync(join(folder, 'pid'), `${process.pid}\n`);
    } catch (error) {
      lock.close();
      throw error;
    }
    return () => lock.close();
  } catch (error) {
    const isTaken = error instanceof Error && 'errcode' in error && error.errcode === busy;
    const found = isTaken ? `another process in it${holderOf(folder)}: stop that process, or` : `${causeOf(error)}:`;
    throw new Error(
      `expected the folder ${folder} for this process alone, found ${found} choose another folder with --state`,
      { cause: error },
    );
  }
}

/** " (process 4711)", as the process with the lock wrote it; empty if an earlier version wrote nothing. */
function holderOf(folder: string): string {
  try {
    const pid = readFileSync(join(folder, 'pid'), 'utf8').trim();
    return /^\d+$/.test(pid) ? ` (process ${pid})` : '';
  } catch {
    return '';
  }
}

/** SQLite's result code for a database that another process has locked. */
const busy = 5;

const causeOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
