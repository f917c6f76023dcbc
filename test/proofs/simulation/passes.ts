import type { Batch } from '../../../shared/function.ts';
import { keyOf, type Resource } from '../../../shared/kinds/resource.ts';
import type { Asked, Pass } from '../invariants/history.ts';
import { isWrite, type Request } from './requests.ts';

type Recorded = { -readonly [K in keyof Pass]: Pass[K] } & { asked: Asked[] };

/** Counts what one process asks of the API server, pass by pass. */
export class PassesOf {
  readonly #begun: (pass: Pass) => void;
  #pass: Recorded | undefined;
  #inFlight = 0;
  #writesBegun = 0;

  constructor(begun: (pass: Pass) => void) {
    this.#begun = begun;
  }

  /** It begins to read: returns the pass, to which all belongs that the process asks for from now on. */
  begin(
    { by, since, atMs }: Pick<Pass, 'by' | 'since' | 'atMs'>,
    { subjects, messages, sweep, audit }: Batch,
  ): Recorded {
    const about = [...subjects.map((one) => `${one.kind} ${keyOf(one)}`), ...messages.map(({ type }) => type)];
    const counts = { mostInFlight: this.#inFlight, mostWritesBegun: this.#writesBegun };
    this.#pass = { by, since, atMs, about, isTimed: sweep || audit, asked: [], ...counts };
    this.#begun(this.#pass);
    return this.#pass;
  }

  /** A request of a pass, from when it is wanted until it is answered. A read may begin after its pass failed, and in the next. */
  async asked<T>(request: Request, send: () => Promise<T>, pass = this.#pass): Promise<T> {
    const asked = askedBy(request);
    pass?.asked.push(asked);
    const isToWrite = isWrite(request);
    if (isToWrite) this.#writesBegun++;
    if (pass) pass.mostWritesBegun = Math.max(pass.mostWritesBegun, this.#writesBegun);
    try {
      const answer = await send();
      asked.objects = objectsIn(answer);
      return answer;
    } finally {
      if (isToWrite) this.#writesBegun--;
    }
  }

  /** A request of the process, from when it is sent until it is answered. */
  async sent<T>(send: () => Promise<T>): Promise<T> {
    const pass = this.#pass;
    this.#inFlight++;
    if (pass) pass.mostInFlight = Math.max(pass.mostInFlight, this.#inFlight);
    try {
      return await send();
    } finally {
      this.#inFlight--;
    }
  }
}

/** KubeVirt has a VirtualMachine, too. */
const kindOf = ({ kind, apiVersion }: Resource) => (apiVersion.startsWith('kubevirt.io/') ? `KubeVirt ${kind}` : kind);

const askedBy = ({ verb, resource, ref, page, selector }: Request): Asked => ({
  verb,
  kind: kindOf(resource),
  of: [ref.namespace, ref.name].filter(Boolean).join('/'),
  ...(selector ? { selector } : {}),
  ...(page === undefined ? {} : { page }),
  objects: 0,
});

const objectsIn = (answer: unknown) => (answer as { items?: readonly unknown[] } | undefined)?.items?.length ?? 1;
