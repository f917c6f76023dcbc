import type { ApiObject } from '../../../deploy/local/api-server/objects.ts';
import type { Store } from '../../../deploy/local/api-server/store.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Change, History, Reconcile } from '../invariants/history.ts';

/** Who is writing at the moment, and on what grounds. */
export type Author = Pick<Change, 'by' | 'since' | 'deletion'>;

/** Writes down every change of every object, with its author. */
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

  /** Runs what `author` does; whatever changes meanwhile is theirs, since one thing happens at a time. */
  async as<T>(author: Author, run: () => T | Promise<T>): Promise<T> {
    const before = this.#author;
    this.#author = author;
    try {
      return await run();
    } finally {
      this.#author = before;
    }
  }

  /** A function begins to read; what it asks for is noted in `reconcile` as it goes. */
  reconcile = (reconcile: Reconcile) => void this.#reconciles.push(reconcile);

  get revision() {
    return this.#store.resourceVersion;
  }

  /** How many changes there have been, whoever made them. */
  get length() {
    return this.#changes.length;
  }

  /** From now on nothing goes wrong and nobody wants anything else. */
  still() {
    this.#stillFromMs = this.#now();
  }

  stop(known: Pick<History, 'sweepMs' | 'auditMs' | 'skewMs' | 'isFaultless'>): History {
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
