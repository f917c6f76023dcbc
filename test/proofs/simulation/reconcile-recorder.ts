import { AsyncLocalStorage } from 'node:async_hooks';
import type { Batch } from '../../../shared/function.ts';
import { type KubernetesObject, keyOf, type Resource } from '../../../shared/kinds/resource.ts';
import type { Asked, Reconcile } from '../invariants/history.ts';
import { isWrite, type Request } from './requests.ts';

type Recorded = { -readonly [K in keyof Reconcile]: Reconcile[K] } & { asked: Asked[] };

/** Counts the requests of one process, by reconcile. */
export class ReconcileRecorder {
  readonly #begun: (reconcile: Reconcile) => void;
  /** A read of a reconcile that failed may begin during the next. */
  readonly #reading = new AsyncLocalStorage<Recorded>();
  /** What reconciles left to be written beside the next ones, by the key of the object. */
  readonly #left = new Map<string, { uid: string; since: number; reconcile: Recorded | undefined }>();
  #reconcile: Recorded | undefined;
  #inFlight = 0;
  #writesBegun = 0;

  constructor(begun: (reconcile: Reconcile) => void) {
    this.#begun = begun;
  }

  /** Runs `read` as the beginning of a reconcile: what the process asks for from now on belongs to it. */
  begin<T>(
    { by, since, atMs }: Pick<Reconcile, 'by' | 'since' | 'atMs'>,
    { subjects, messages, sweep, audit, audited = [] }: Batch,
    busy: ReadonlySet<string>,
    read: () => T,
  ): T {
    for (const [key, { uid }] of this.#left) if (!busy.has(uid)) this.#left.delete(key);
    const named = [...subjects, ...audited].map((one) => `${one.kind} ${keyOf(one)}`);
    const about = [...named, ...messages.map(({ type }) => type)];
    const counts = { mostInFlight: this.#inFlight, mostWritesBegun: this.#writesBegun };
    this.#reconcile = { by, since, atMs, about, isTimed: sweep || audit, asked: [], messages, ...counts };
    this.#begun(this.#reconcile);
    return this.#reading.run(this.#reconcile, read);
  }

  /** The present reconcile, which read what there was at `since`, leaves the object to be written beside the next ones. */
  leave({ metadata }: KubernetesObject, since: number) {
    this.#left.set(keyOf(metadata), { uid: metadata.uid, since, reconcile: this.#reconcile });
  }

  /** Of a write that was left: the reconcile that left it, and since when. */
  leftBy({ verb, ref }: Request) {
    const { namespace, name = '' } = ref;
    return verb === 'patch' ? this.#left.get(keyOf({ namespace, name })) : undefined;
  }

  /** A request of a reconcile, until it is answered. */
  async asked<T>(request: Request, send: () => Promise<T>): Promise<T> {
    const reconcile = this.#reading.getStore() ?? this.leftBy(request)?.reconcile ?? this.#reconcile;
    const asked = askedBy(request);
    reconcile?.asked.push(asked);
    const isToWrite = isWrite(request);
    if (isToWrite) this.#writesBegun++;
    if (reconcile) reconcile.mostWritesBegun = Math.max(reconcile.mostWritesBegun, this.#writesBegun);
    try {
      const answer = await send();
      asked.objects = objectsIn(answer);
      return answer;
    } finally {
      if (isToWrite) this.#writesBegun--;
    }
  }

  /** A request of the process, from sending to answer. */
  async sent<T>(send: () => Promise<T>): Promise<T> {
    const reconcile = this.#reconcile;
    this.#inFlight++;
    if (reconcile) reconcile.mostInFlight = Math.max(reconcile.mostInFlight, this.#inFlight);
    try {
      return await send();
    } finally {
      this.#inFlight--;
    }
  }
}

/** KubeVirt also has a kind VirtualMachine. */
const kindOf = ({ kind, apiVersion }: Resource) => (apiVersion.startsWith('kubevirt.io/') ? `KubeVirt ${kind}` : kind);

const askedBy = ({ verb, resource, ref, page, selector }: Request): Asked => ({
  verb,
  kind: kindOf(resource),
  of: ref.name === undefined ? (ref.namespace ?? '') : keyOf({ namespace: ref.namespace, name: ref.name }),
  ...(selector ? { selector } : {}),
  ...(page === undefined ? {} : { page }),
  objects: 0,
});

const objectsIn = (answer: unknown) =>
  answer === undefined ? 0 : ((answer as { items?: readonly unknown[] }).items?.length ?? 1);
