import { keyOf } from '../../../shared/kinds/resource.ts';
import type { ApiObject } from './objects.ts';
import { frozen } from './objects.ts';
import { expired } from './status-error.ts';
import type { StoreContents, StoreFile } from './store-file.ts';
import { type StoreEvent, WatchLog } from './watch-log.ts';

type Listener = (event: StoreEvent) => void;

/** All objects of one resource; `keys` is sorted as etcd sorts, by namespace and then name. */
interface Shelf {
  objects: Map<string, ApiObject>;
  keys: string[];
}

/** Where among sorted keys `key` is or belongs. */
function position(keys: string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The cluster's memory: frozen objects by resource, namespace and name, one resourceVersion counter for all of them,
 * and the log that watches read. It simulates etcd: it knows no kinds and no rules. With a file it is available again after the
 * process has ended; the log is not, so that watches and pages from before are answered 410.
 */
export class Store {
  readonly #shelves = new Map<string, Shelf>();
  readonly #log: WatchLog;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #observers = new Set<Listener>();
  readonly #file: StoreFile | undefined;
  #resourceVersion = 1;

  constructor(historyLimit: number, file?: StoreFile, kept: StoreContents | undefined = file?.load()) {
    this.#file = file;
    this.#log = new WatchLog(historyLimit, kept?.objects.length ? kept.resourceVersion : 0);
    this.#resourceVersion = kept?.resourceVersion ?? this.#resourceVersion;
    for (const { resource, object } of kept?.objects ?? []) {
      this.#shelve(resource, keyOf(object.metadata), frozen(object));
    }
  }

  /** All of it, as a file keeps it; another store may begin with that. */
  contents(): StoreContents {
    const objects = [...this.#shelves].flatMap(([resource, shelf]) =>
      [...shelf.objects.values()].map((object) => ({ resource, object })),
    );
    return { resourceVersion: this.#resourceVersion, objects };
  }

  /** The resourceVersion of the newest write. */
  get resourceVersion() {
    return this.#resourceVersion;
  }

  get(resource: string, namespace: string | undefined, name: string): ApiObject | undefined {
    return this.#shelves.get(resource)?.objects.get(keyOf({ namespace, name }));
  }

  /** All objects of a resource, of one namespace or of all, in order of namespace and name. */
  list(resource: string, namespace?: string): ApiObject[] {
    const storeKey = this.#shelves.get(resource);
    if (!storeKey) return [];
    const keys = namespace ? within(storeKey.keys, namespace) : storeKey.keys;
    return keys.flatMap((key) => storeKey.objects.get(key) ?? []);
  }

  /** What `list` answered at an earlier resourceVersion; throws 410 when that is compacted. */
  listAt(resource: string, namespace: string | undefined, resourceVersion: number): ApiObject[] {
    if (resourceVersion >= this.#resourceVersion) return this.list(resource, namespace);
    this.assertRemembered(resourceVersion);
    const objects = new Map(this.list(resource, namespace).map((object) => [keyOf(object.metadata), object]));
    for (const { previous, ...event } of this.#log.since(resourceVersion).reverse()) {
      const { metadata } = event.object;
      if (event.resource !== resource || (namespace && metadata.namespace !== namespace)) continue;
      if (previous) objects.set(keyOf(metadata), previous);
      else objects.delete(keyOf(metadata));
    }
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** Keeps `object` as the newest of its name under the next resourceVersion and tells the watches. */
  put(resource: string, object: ApiObject): ApiObject {
    const { namespace, name } = object.metadata;
    const previous = this.get(resource, namespace, name);
    const stored = this.#stamped(object);
    this.#file?.put(resource, stored);
    this.#shelve(resource, keyOf(object.metadata), stored);
    this.#tell({
      type: previous ? 'MODIFIED' : 'ADDED',
      resourceVersion: this.#resourceVersion,
      resource,
      object: stored,
      ...(previous && { previous }),
    });
    return stored;
  }

  /** Forgets the object; watches hear its last state under the resourceVersion of its end. */
  remove(resource: string, namespace: string | undefined, name: string): ApiObject | undefined {
    const storeKey = this.#shelves.get(resource);
    const key = keyOf({ namespace, name });
    const previous = storeKey?.objects.get(key);
    if (!storeKey || !previous) return undefined;
    const object = this.#stamped(previous);
    this.#file?.remove(resource, object, this.#resourceVersion);
    storeKey.objects.delete(key);
    storeKey.keys.splice(position(storeKey.keys, key), 1);
    this.#tell({ type: 'DELETED', resourceVersion: this.#resourceVersion, resource, object, previous });
    return object;
  }

  /** Calls `listener` for every later write of a resource, within the write; the returned function ends it. */
  subscribe(resource: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(resource) ?? new Set();
    this.#listeners.set(resource, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Calls `observer` for every later write of any resource; the returned function ends it. */
  observe(observer: Listener): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** Reports every existing object to observers and listeners as added, for those that only follow changes. */
  replay() {
    for (const [resource, { objects }] of this.#shelves) {
      for (const object of objects.values()) {
        this.#say({ type: 'ADDED', resourceVersion: Number(object.metadata.resourceVersion), resource, object });
      }
    }
  }

  /** The writes of a resource after `resourceVersion`; throws 410 when some of them are compacted. */
  since(resource: string, resourceVersion: number): StoreEvent[] {
    this.assertRemembered(resourceVersion);
    return this.#log.since(resourceVersion).filter((event) => event.resource === resource);
  }

  /** Whether the state at a resourceVersion can still be told. */
  remembers(resourceVersion: number): boolean {
    return resourceVersion >= this.#log.compacted;
  }

  assertRemembered(resourceVersion: number) {
    if (this.remembers(resourceVersion)) return;
    throw expired(`too old resource version: ${resourceVersion} (${this.#log.compacted})`);
  }

  /** Forgets the history, as etcd's compaction does: a watch or a page from before is answered 410. */
  compact() {
    this.#log.compact();
  }

  #stamped(object: ApiObject): ApiObject {
    const resourceVersion = String(++this.#resourceVersion);
    return frozen({ ...object, metadata: { ...object.metadata, resourceVersion } });
  }

  #shelve(resource: string, key: string, object: ApiObject) {
    const storeKey = this.#shelves.get(resource) ?? { objects: new Map(), keys: [] };
    this.#shelves.set(resource, storeKey);
    if (!storeKey.objects.has(key)) storeKey.keys.splice(position(storeKey.keys, key), 0, key);
    storeKey.objects.set(key, object);
  }

  #tell(event: StoreEvent) {
    this.#log.append(event);
    this.#say(event);
  }

  #say(event: StoreEvent) {
    for (const observer of [...this.#observers]) observer(event);
    for (const listener of [...(this.#listeners.get(event.resource) ?? [])]) listener(event);
  }
}

/** The stretch of sorted keys that lies in `namespace`; '0' is the character after '/'. */
const within = (keys: string[], namespace: string) =>
  keys.slice(position(keys, `${namespace}/`), position(keys, `${namespace}0`));
