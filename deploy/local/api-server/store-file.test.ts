import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApiObject } from './objects.ts';
import { Store } from './store.ts';
import { openStoreFile, type StoreFile } from './store-file.ts';

const storeKey = '/configmaps';
let folder: string;
let file: string;
const open: StoreFile[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'store-file-'));
  file = join(folder, 'cluster.sqlite');
});

afterEach(async () => {
  for (const one of open.splice(0)) one.close();
  await rm(folder, { recursive: true });
});

function opened(): StoreFile {
  const one = openStoreFile(file);
  open.push(one);
  return one;
}

/** Opens the file once more without having closed it, as after a process was killed. */
const storeNow = () => new Store(100, opened());

const configMap = (name: string, data: object = {}, namespace: string | undefined = 'default') =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...(namespace ? { namespace } : {}), uid: `uid of ${name}`, managedFields: [{ manager: 'me' }] },
    data,
  }) as unknown as ApiObject;

describe('a store with a file', () => {
  test('contains every field of every object again, although no one closed it', () => {
    const before = storeNow();
    before.put(storeKey, configMap('a', { x: { y: [1, null, 'ü'] } }));
    before.put(storeKey, configMap('b', {}, 'other'));
    before.put('/namespaces', configMap('cluster-scoped', {}, undefined));
    before.put(storeKey, { ...configMap('a'), metadata: { ...configMap('a').metadata, deletionTimestamp: 'now' } });
    const after = storeNow();
    for (const resource of [storeKey, '/namespaces']) expect(after.list(resource)).toEqual(before.list(resource));
    expect(after.get(storeKey, 'default', 'a')?.metadata.deletionTimestamp).toBe('now');
  });

  test('has what it was given last, and not what it was told to forget', () => {
    const before = storeNow();
    before.put(storeKey, configMap('changed', { v: 1 }));
    before.put(storeKey, configMap('gone'));
    before.put(storeKey, configMap('changed', { v: 2 }));
    before.remove(storeKey, 'default', 'gone');
    expect(storeNow().list(storeKey)).toMatchObject([{ metadata: { name: 'changed' }, data: { v: 2 } }]);
  });

  test('gives no resourceVersion twice, not even that of the last deletion', () => {
    const before = storeNow();
    before.put(storeKey, configMap('a'));
    before.put(storeKey, configMap('b'));
    before.remove(storeKey, 'default', 'b');
    const after = storeNow();
    const next = after.put(storeKey, configMap('c'));
    expect(Number(next.metadata.resourceVersion)).toBeGreaterThan(before.resourceVersion);
    expect(storeNow().put(storeKey, configMap('d')).metadata.resourceVersion).not.toBe(next.metadata.resourceVersion);
  });

  test('answers 410 to a watch from before it was opened', () => {
    const before = storeNow();
    before.put(storeKey, configMap('a'));
    const after = storeNow();
    const message = /^too old resource version/;
    expect(() => after.since(storeKey, before.resourceVersion)).toThrow(message);
    expect(() => after.listAt(storeKey, undefined, before.resourceVersion)).toThrow(message);
    const { resourceVersion } = after;
    after.put(storeKey, configMap('b'));
    expect(after.since(storeKey, resourceVersion)).toMatchObject([
      { type: 'ADDED', object: { metadata: { name: 'b' } } },
    ]);
  });

  test('replays every object as a new one to those that live by changes', () => {
    storeNow().put(storeKey, configMap('a'));
    const after = storeNow();
    const heard: unknown[] = [];
    after.observe(({ type, resource, object }) => heard.push([type, resource, object.metadata.name]));
    after.subscribe(storeKey, ({ type }) => heard.push(type));
    after.replay();
    expect(heard).toEqual([['ADDED', storeKey, 'a'], 'ADDED']);
  });

  test('keeps nothing of a write that the file refused', () => {
    const refused = new Error('database or disk is full');
    const full: StoreFile = {
      ...opened(),
      put: () => {
        throw refused;
      },
    };
    const store = new Store(100, full);
    const heard: unknown[] = [];
    store.observe((event) => heard.push(event));
    expect(() => store.put(storeKey, configMap('a'))).toThrow(refused);
    expect(store.list(storeKey)).toEqual([]);
    expect(heard).toEqual([]);
  });

  test('keeps one key for tokens for the lifetime of the file', () => {
    expect(opened().tokenKey).toEqual(opened().tokenKey);
  });
});

describe('a file that is not such a store', () => {
  const whatToDo =
    /start the version of this project that wrote it, or start with an empty cluster \(npm start -- --fresh\)$/;

  test.each([
    ['of another version', 'PRAGMA user_version = 7', 'found version 7'],
    ['of something else', 'PRAGMA application_id = 1', 'found a database of something else'],
  ])('%s says what was expected and what to do', (_, change, found) => {
    openStoreFile(file).close();
    const database = new DatabaseSync(file);
    database.exec(change);
    database.close();
    expect(() => openStoreFile(file)).toThrow(`${file}: expected a cluster of version 1, ${found}: `);
    expect(() => openStoreFile(file)).toThrow(whatToDo);
  });

  test('that is no database is refused', async () => {
    await writeFile(
      file,
      'a text that is long enough for the header of a database, but is not a database. '.repeat(20),
    );
    expect(() => openStoreFile(file)).toThrow(/found something that is no SQLite file: .*--fresh/);
  });

  test('with an object that is no JSON is refused', () => {
    const one = opened();
    one.put(storeKey, { ...configMap('a'), metadata: { ...configMap('a').metadata, resourceVersion: '2' } });
    const database = new DatabaseSync(file);
    database.exec(`UPDATE objects SET json = '{'`);
    database.close();
    expect(() => storeNow()).toThrow(/found an object that is no JSON: .*--fresh/);
  });
});
