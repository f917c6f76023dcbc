import type { ApiObject } from '../../../deploy/local/api-server/objects.ts';
import type { Store } from '../../../deploy/local/api-server/store.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Change, History, Reconcile } from '../invariants/history.ts';

/** The present writer, and what its reconcile read. */
export type Author = Pick<Change, 'by' | 'since' | 'deletion'>;

/** Records every change of every object, with its writer. */
export class Recorder {
  readonly #store: Store;
  /** The resourceVersion of the object before. */
  readonly began: number;
  readonly #now: () => number;
  readonly #before: readonly KubernetesObject[];
  readonly #changes: Change[] = [];
  readonly #reconciles: Reconcile[] = [];
  readonly #stop: () => void;
  #author: Author = {};
  #stillFromMs: number | undefined;

  constructor(store: Store, now: () => number, before: readonly KubernetesObject[]) {
    this.#store = store;
    this.#now = now;
    this.#before = before;
    this.began = store.resourceVersion;
    this.#stop = store.observe(({ type, object }) => {
      this.#changes.push({ type, object: asClientsSeeIt(object), atMs: now(), ...this.#author });
    });
  }

  /** Runs a step of `author`: all changes meanwhile are its own, because one step runs at a time. */
  async as<T>(author: Author, run: () => T | Promise<T>): Promise<T> {
    const before = this.#author;
    this.#author = author;
    try {
      return await run();
    } finally {
      this.#author = before;
    }
  }

  /** A reconcile begins; its requests are added to it later. */
  reconcile = (reconcile: Reconcile) => void this.#reconciles.push(reconcile);

  get revision() {
    return this.#store.resourceVersion;
  }

  /** The number of changes by all writers. */
  get length() {
    return this.#changes.length;
  }

  /** From now on there are no faults and no operations of users. */
  still() {
    this.#stillFromMs = this.#now();
  }

  stop(known: Pick<History, 'sweepMs' | 'auditMs' | 'skewMs' | 'isFaultless' | 'sources'>): History {
    this.#stop();
    return {
      ...known,
      before: this.#before,
      changes: this.#changes,
      reconciles: this.#reconciles,
      endMs: this.#now(),
      ...(this.#stillFromMs === undefined ? {} : { stillFromMs: this.#stillFromMs }),
    };
  }
}

const asClientsSeeIt = (object: ApiObject) => object as unknown as KubernetesObject;
