import { describe, expect, test } from 'vitest';
import type { ApiObject } from './objects.ts';
import { Store } from './store.ts';
import type { StoreEvent } from './watch-log.ts';

const storeKey = '/configmaps';

const configMap = (name: string, data: object = {}, namespace = 'default') =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, uid: name }, data }) as unknown as ApiObject;

const namesOf = (objects: ApiObject[]) => objects.map(({ metadata }) => metadata.name);

describe('Store', () => {
  test('each write of any resource gets the next resourceVersion', () => {
    const store = new Store(100);
    const first = store.put(storeKey, configMap('a'));
    const second = store.put('/secrets', configMap('b'));
    expect(Number(second.metadata.resourceVersion)).toBe(Number(first.metadata.resourceVersion) + 1);
  });

  test('what it keeps cannot be changed by who reads it', () => {
    const store = new Store(100);
    const stored = store.put(storeKey, configMap('a', { x: { y: 1 } }));
    expect(() => Object.assign(stored.data as object, { x: 2 })).toThrow(TypeError);
    expect(() => Object.assign(stored.metadata, { name: 'b' })).toThrow(TypeError);
  });

  test('lists are in order of namespace and name, of one namespace or all', () => {
    const store = new Store(100);
    for (const [name, namespace] of [
      ['b', 'y'],
      ['a', 'y'],
      ['c', 'x'],
      ['a', 'y-z'],
    ]) {
      store.put(storeKey, configMap(name ?? '', {}, namespace));
    }
    expect(store.list(storeKey).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      'x/c',
      'y-z/a',
      'y/a',
      'y/b',
    ]);
    expect(namesOf(store.list(storeKey, 'y'))).toEqual(['a', 'b']);
  });

  test('the state at an earlier resourceVersion is available until it is compacted', () => {
    const store = new Store(100);
    store.put(storeKey, configMap('a', { v: 1 }));
    const { resourceVersion } = store;
    store.put(storeKey, configMap('b'));
    store.put(storeKey, configMap('a', { v: 2 }));
    store.remove(storeKey, 'default', 'a');
    expect(store.listAt(storeKey, 'default', resourceVersion)).toMatchObject([
      { metadata: { name: 'a' }, data: { v: 1 } },
    ]);
    store.compact();
    expect(() => store.listAt(storeKey, 'default', resourceVersion)).toThrow(/^too old resource version: 2 \(5\)$/);
  });

  test('subscribers hear each write of their resource within the write', () => {
    const store = new Store(100);
    const heard: StoreEvent[] = [];
    const stop = store.subscribe(storeKey, (event) => heard.push(event));
    store.put(storeKey, configMap('a'));
    store.put('/secrets', configMap('s'));
    store.remove(storeKey, 'default', 'a');
    stop();
    store.put(storeKey, configMap('late'));
    expect(heard.map(({ type, resourceVersion }) => [type, resourceVersion])).toEqual([
      ['ADDED', 2],
      ['DELETED', 4],
    ]);
    expect(heard[1]?.object.metadata.resourceVersion).toBe('4');
  });

  test('the log keeps at least the configured number of writes, and refuses older ones', () => {
    const store = new Store(10);
    for (let count = 0; count < 100; count++) store.put(storeKey, configMap('a', { count }));
    expect(store.since(storeKey, store.resourceVersion - 10)).toHaveLength(10);
    expect(() => store.since(storeKey, 2)).toThrow(/^too old resource version/);
  });
});
