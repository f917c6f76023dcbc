import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ObjectStore, startObjectStore } from './object-store.ts';

let base: string;
let folder: string;
let store: ObjectStore;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'kept-objects-'));
  folder = join(base, 'objects');
  store = await start();
});

afterEach(async () => {
  await store.close();
  await rm(base, { recursive: true });
});

const start = () => startObjectStore({ keys: [], publicBuckets: ['open'], folder });

/** Another store on the same folder, while the first is not closed: as after a process was killed. */
async function again() {
  const before = store;
  store = await start();
  await before.close();
}

const read = async (key: string) => {
  const response = await fetch(`${store.url}/open/${encodeURIComponent(key)}`);
  return { status: response.status, etag: response.headers.get('etag'), text: await response.text() };
};

test('whatever an object is made of, it exists again with the same bytes and etag', async () => {
  await store.put('open', 'text', 'words');
  await store.put('open', 'bytes', Buffer.from([0x61, 0x62]));
  await store.put('open', 'stream', Readable.from(['one, ', 'two']));
  await store.put('open', 'seed', { size: 100, seed: 7, head: Buffer.from('head') });
  await writeFile(join(base, 'own'), 'own');
  await store.put('open', 'file', { file: join(base, 'own') });
  await store.put('open', 'k'.repeat(300), 'a long key');
  const keys = ['text', 'bytes', 'stream', 'seed', 'file', 'k'.repeat(300)];
  const before = await Promise.all(keys.map(read));
  await again();
  expect(await Promise.all(keys.map(read))).toEqual(before);
  expect(before.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  expect(store.sizeOf('open/seed')).toBe(100);
});

test('the newest content of a key stays and nothing of the one before', async () => {
  await store.put('open', 'a', 'first');
  await store.put('open', 'a', 'second');
  await again();
  expect((await read('a')).text).toBe('second');
  expect(await readdir(folder)).toHaveLength(2);
});

test('what was removed does not come back', async () => {
  await store.put('open', 'a', 'first');
  store.remove('open', 'a');
  await expect.poll(() => readdir(folder)).toEqual([]);
  await again();
  expect((await read('a')).status).toBe(404);
});

test('what was half written is cleared away, and the object is as it was', async () => {
  await store.put('open', 'a', 'first');
  await expect(store.put('open', 'a', Readable.from(broken()))).rejects.toThrow('cut');
  await writeFile(join(folder, 'left-by-a-killed-process'), 'half');
  await again();
  expect((await read('a')).text).toBe('first');
  expect(await readdir(folder)).toHaveLength(2);
});

async function* broken() {
  yield 'sec';
  throw new Error('cut');
}
