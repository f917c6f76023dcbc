import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDataFolder } from './data-folder.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'data-folder-'));
});

afterEach(() => rm(folder, { recursive: true }));

test('a missing folder is created, and is new only once', () => {
  const inner = join(folder, 'a', 'b');
  const first = openDataFolder(inner);
  first.close();
  const second = openDataFolder(inner);
  second.close();
  expect([first.isNew, second.isNew]).toEqual([true, false]);
});

test('a folder can be opened only once, also with --fresh, until it is closed', () => {
  const first = openDataFolder(folder);
  const message = `expected the folder ${folder} for this process alone, found another process in it (process ${process.pid}): stop that process, or choose another folder with --state`;
  expect(() => openDataFolder(folder)).toThrow(message);
  expect(() => openDataFolder(folder, { fresh: true })).toThrow(message);
  first.close();
  openDataFolder(folder).close();
});

test('--fresh deletes the cluster, whatever is wrong with it, and leaves other files', async () => {
  openDataFolder(folder).close();
  const database = new DatabaseSync(join(folder, 'cluster.sqlite'));
  database.exec('PRAGMA user_version = 99');
  database.close();
  await mkdir(join(folder, 'objects'));
  await writeFile(join(folder, 'notes.txt'), 'mine');
  expect(() => openDataFolder(folder)).toThrow(/--fresh/);
  const fresh = openDataFolder(folder, { fresh: true });
  fresh.close();
  expect(fresh.isNew).toBe(true);
  expect(fresh.storeFile).toBeDefined();
  expect(await readdir(folder)).toEqual(expect.arrayContaining(['cluster.sqlite', 'notes.txt']));
  expect(await readdir(folder)).not.toContain('objects');
});

test('a folder that cannot be had says what to do', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  expect(() => openDataFolder(file)).toThrow(/EEXIST.*: choose another folder with --state$/);
});
