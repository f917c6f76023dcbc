import type { OwnerReference } from './objects.ts';
import type { StoreEvent } from './watch-log.ts';

/** Where an object is in the store. */
export interface ObjectKey {
  storeKey: string;
  namespace: string | undefined;
  name: string;
}

const none: OwnerReference[] = [];

/** Knows which objects name which owner by uid, and which owners wait for their dependents. */
export class OwnerIndex {
  readonly #dependents = new Map<string, Map<string, ObjectKey>>();
  readonly #waiting = new Map<string, ObjectKey>();

  /** Takes a write into account; answers the owners named before and after it, the same list where nothing changed. */
  update(
    key: ObjectKey,
    { type, object, previous }: StoreEvent,
  ): { before: OwnerReference[]; after: OwnerReference[] } {
    const before = previous?.metadata.ownerReferences ?? none;
    const after = type === 'DELETED' ? none : (object.metadata.ownerReferences ?? none);
    this.#await(key, object, type);
    if (JSON.stringify(before) === JSON.stringify(after)) return { before, after: before };
    const text = JSON.stringify(key);
    for (const { uid } of before) this.#drop(uid, text);
    for (const { uid } of after) this.#dependents.set(uid, (this.#dependents.get(uid) ?? new Map()).set(text, key));
    return { before, after };
  }

  dependentsOf(uid: string): ObjectKey[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  /** The owner of this uid if it is going and waits for its dependents. */
  waitingFor(uid: string): ObjectKey[] {
    const key = this.#waiting.get(uid);
    return key ? [key] : [];
  }

  #drop(uid: string, text: string) {
    const keys = this.#dependents.get(uid);
    keys?.delete(text);
    if (keys?.size === 0) this.#dependents.delete(uid);
  }

  #await(key: ObjectKey, { metadata }: StoreEvent['object'], type: StoreEvent['type']) {
    const waits = metadata.deletionTimestamp && metadata.finalizers?.includes('foregroundDeletion');
    if (type !== 'DELETED' && waits) this.#waiting.set(metadata.uid, key);
    else this.#waiting.delete(metadata.uid);
  }
}
