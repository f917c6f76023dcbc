import { setTimeout as sleep } from 'node:timers/promises';
import { type KubernetesObject, keyOf, type ObjectReference, type Resource } from '../../../shared/kinds/resource.ts';
import type { Kube, WatchEvent } from '../../../shared/runtime/kube.ts';

/** Objects of one kind as the last list, the watch since, and our own writes show them. */
export interface Informer<T extends KubernetesObject> {
  readonly resource: Resource<T>;
  readonly objects: ReadonlyMap<string, T>;
  find(ref: ObjectReference): T | undefined;
  /** Takes note of what a write of ours answered, so that no look after it is older than the write. */
  learn(object: T): void;
  /** Calls `listener` with every object that came, changed or went. */
  onChange(listener: (object: T) => void): void;
  /** Resolves when the first list is complete; until then no object can be reported missing. */
  readonly synced: Promise<void>;
  /** Resolves once the signal has aborted and nothing is under way any more. */
  readonly done: Promise<void>;
}

const versionOf = (object: KubernetesObject) => Number(object.metadata.resourceVersion);

// A broken watch is mended in real time whatever the clock of the simulation says: the network does not wait for a test's step.
const relistMs = 100;

/** Lists and watches a kind until the signal aborts; a watch that ends is mended by listing again, which also tells what went meanwhile. */
export function startInformer<T extends KubernetesObject>(
  kube: Kube,
  resource: Resource<T>,
  signal: AbortSignal,
): Informer<T> {
  const objects = new Map<string, T>();
  /** The resourceVersion at which an object was last seen to go: an answer from before must not bring it back. */
  const gone = new Map<string, number>();
  const listeners: ((object: T) => void)[] = [];
  const { promise: synced, resolve: sync } = Promise.withResolvers<void>();

  const tell = (object: T) => {
    for (const listener of listeners) listener(object);
  };
  const learn = (object: T) => {
    const key = keyOf(object.metadata);
    const known = Math.max(gone.get(key) ?? 0, versionOf(objects.get(key) ?? object));
    if (versionOf(object) >= known) objects.set(key, object);
  };
  const forget = (object: T) => {
    const key = keyOf(object.metadata);
    gone.set(key, versionOf(object));
    if (versionOf(objects.get(key) ?? object) <= versionOf(object)) objects.delete(key);
  };
  const apply = ({ type, object }: WatchEvent<T>) => {
    if (type === 'DELETED') forget(object);
    else learn(object);
    tell(object);
  };
  /** What was learned of writes after the list was read stays: a controller would repeat such a write, or undo it. */
  const replaceAll = (items: T[], readAt: number) => {
    const before = [...objects.values()];
    objects.clear();
    gone.clear();
    for (const object of [...items, ...before.filter((object) => versionOf(object) > readAt)]) learn(object);
    const lost = before.filter(({ metadata }) => !objects.has(keyOf(metadata)));
    for (const object of [...objects.values(), ...lost]) tell(object);
  };

  async function listAndWatch() {
    const items: T[] = [];
    let resourceVersion = '';
    for await (const page of kube.pages(resource)) {
      items.push(...page.items);
      resourceVersion = page.resourceVersion;
    }
    if (signal.aborted) return;
    replaceAll(items, Number(resourceVersion));
    sync();
    await kube.watch(resource, { resourceVersion, signal }, apply);
  }

  async function run() {
    while (!signal.aborted) {
      await listAndWatch().catch(() => undefined);
      await sleep(relistMs, undefined, { signal }).catch(() => undefined);
    }
  }

  return {
    resource,
    objects,
    find: (ref) => objects.get(keyOf(ref)),
    learn,
    onChange: (listener) => void listeners.push(listener),
    synced,
    done: run(),
  };
}
