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

  /** How many seconds a function's clock is off by now. */
  secondsOff(of: string): number {
    if (!this.#areOn) return 0;
    return this.#faults.reduce((seconds, fault) => {
      if ((fault.kind !== 'skew' && fault.kind !== 'clockJump') || fault.function !== of) return seconds;
      if (fault.kind === 'clockJump' && this.countOf('request') < fault.at) return seconds;
      this.strike(fault);
      return seconds + fault.seconds;
    }, 0);
  }

  /** What is so for the whole of the run's first part. */
  standing<K extends 'replicas'>(kind: K, of: string): Of<K> | undefined {
    const found = this.#faults.find((fault) => fault.kind === kind && 'function' in fault && fault.function === of);
    return this.#areOn ? (found as Of<K> | undefined) : undefined;
  }
}
