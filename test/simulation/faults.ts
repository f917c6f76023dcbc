import type { Fault } from './plan.ts';

type Kind = Fault['kind'];
type Of<K extends Kind> = Extract<Fault, { kind: K }>;

/** What a run's faults say to what happens: each counter goes up by one with each thing of its sort that happens. */
export class Faults {
  readonly #faults: readonly Fault[];
  readonly #counts = new Map<string, number>();
  readonly #struck = new Map<Fault, number>();
  #areOn = true;

  constructor(faults: readonly Fault[]) {
    this.#faults = faults;
  }

  /** From now on nothing goes wrong any more. */
  heal() {
    this.#areOn = false;
  }

  get areOn() {
    return this.#areOn;
  }

  /** How many times each fault struck. */
  get struck(): ReadonlyMap<Fault, number> {
    return this.#struck;
  }

  /** How many things of that sort have happened. */
  countOf(sort: string): number {
    return this.#counts.get(sort) ?? 0;
  }

  /** The number of this thing among those of its sort, from 0. */
  count(sort: string): number {
    const number = this.countOf(sort);
    this.#counts.set(sort, number + 1);
    return number;
  }

  /** The fault has come to something. */
  strike(fault: Fault) {
    if (this.#areOn) this.#struck.set(fault, (this.#struck.get(fault) ?? 0) + 1);
  }

  /** The fault of that kind that strikes thing number `number`, if any does. */
  at<K extends Kind>(number: number, kind: K): Of<K> | undefined {
    if (!this.#areOn) return undefined;
    const found = this.#faults.find(
      (fault) =>
        fault.kind === kind &&
        'at' in fault &&
        number >= fault.at &&
        number < fault.at + ('count' in fault ? fault.count : 1),
    );
    if (found) this.strike(found);
    return found as Of<K> | undefined;
  }

  /** What is so for the whole of the run's first part. */
  standing<K extends 'skew' | 'replicas'>(kind: K, of: string): Of<K> | undefined {
    const found = this.#faults.find((fault) => fault.kind === kind && 'function' in fault && fault.function === of);
    return this.#areOn ? (found as Of<K> | undefined) : undefined;
  }
}
