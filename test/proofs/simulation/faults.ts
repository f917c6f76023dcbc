import type { Fault } from './plan.ts';

type Kind = Fault['kind'];
type Of<K extends Kind> = Extract<Fault, { kind: K }>;

/** The faults of a run. Each counter counts one sort of event (writes, requests, downloads …). */
export class Faults {
  readonly #faults: readonly Fault[];
  readonly #byKind: ReadonlyMap<Kind, readonly Fault[]>;
  readonly #counts = new Map<string, number>();
  readonly #injected = new Map<Fault, number>();
  #areOn = true;

  constructor(faults: readonly Fault[]) {
    this.#faults = faults;
    this.#byKind = Map.groupBy(faults, ({ kind }) => kind);
  }

  /** From now on no fault is injected. */
  heal() {
    this.#areOn = false;
  }

  get areOn() {
    return this.#areOn;
  }

  /** How often each fault was injected. */
  get injected(): ReadonlyMap<Fault, number> {
    return this.#injected;
  }

  /** The count of that sort so far. */
  countOf(sort: string): number {
    return this.#counts.get(sort) ?? 0;
  }

  /** Counts one of that sort; returns its number, from 0. */
  count(sort: string): number {
    const number = this.countOf(sort);
    this.#counts.set(sort, number + 1);
    return number;
  }

  /** The fault had an effect. */
  markInjected(fault: Fault) {
    if (this.#areOn) this.#injected.set(fault, (this.#injected.get(fault) ?? 0) + 1);
  }

  /** The fault of that kind at this number, if any. */
  at<K extends Kind>(number: number, kind: K): Of<K> | undefined {
    if (!this.#areOn) return undefined;
    const found = this.#byKind
      .get(kind)
      ?.find(
        (fault) => 'at' in fault && number >= fault.at && number < fault.at + ('count' in fault ? fault.count : 1),
      );
    if (found) this.markInjected(found);
    return found as Of<K> | undefined;
  }

  /** The present clock error of a function, in seconds. */
  secondsOff(of: string): number {
    if (!this.#areOn) return 0;
    return this.#faults.reduce((seconds, fault) => {
      if ((fault.kind !== 'skew' && fault.kind !== 'clockJump') || fault.function !== of) return seconds;
      if (fault.kind === 'clockJump' && this.countOf('request') < fault.at) return seconds;
      this.markInjected(fault);
      return seconds + fault.seconds;
    }, 0);
  }

  /** A fault that lasts until all faults end. */
  lasting<K extends 'replicas'>(kind: K, of: string): Of<K> | undefined {
    const found = this.#faults.find((fault) => fault.kind === kind && 'function' in fault && fault.function === of);
    return this.#areOn ? (found as Of<K> | undefined) : undefined;
  }
}
