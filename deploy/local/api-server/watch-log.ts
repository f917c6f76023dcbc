import type { ApiObject } from './objects.ts';

/** One write, as watches tell it. `previous` is what the object was before; absent for a new one. */
export interface StoreEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  resourceVersion: number;
  /** The resource's key: `group/plural`. */
  resource: string;
  object: ApiObject;
  previous?: ApiObject;
}

/** The last `limit` writes in order; older ones are compacted, and a client that needs them must list again. */
export class WatchLog {
  readonly #limit: number;
  #events: StoreEvent[] = [];
  #compacted: number;

  constructor(limit: number, compacted = 0) {
    this.#limit = limit;
    this.#compacted = compacted;
  }

  append(event: StoreEvent) {
    this.#events.push(event);
    if (this.#events.length > 2 * this.#limit) this.compact(this.#limit);
  }

  /** Forgets all but the last `keep` writes. */
  compact(keep = 0) {
    const dropped = this.#events.splice(0, Math.max(0, this.#events.length - keep));
    this.#compacted = dropped.at(-1)?.resourceVersion ?? this.#compacted;
  }

  /** The newest resourceVersion that is no longer told. */
  get compacted() {
    return this.#compacted;
  }

  /** The writes after `resourceVersion`, oldest first. */
  since(resourceVersion: number): StoreEvent[] {
    const first = this.#events[0];
    if (!first) return [];
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const event = this.#events[middle];
      if (event && event.resourceVersion <= resourceVersion) low = middle + 1;
      else high = middle;
    }
    return this.#events.slice(low);
  }
}
