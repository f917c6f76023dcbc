import type { Clock } from '../../../deploy/local/clock.ts';

/** Chooses the next of several possible steps; 0 has waited longest. */
export type Choose = (among: number) => number;

/** A possible step. It has ended when it resolves, except for the steps that it scheduled. */
export type Step = () => void | Promise<void>;

interface Timer {
  atMs: number;
  step: Step;
  /** Has no effect while nothing changes, so rest does not wait for it. */
  isRecurring: boolean;
  /** Waits only for the end of the faults. */
  isHeldUp?: boolean;
}

/** The longest time that may pass while requests are in flight. */
const mostPassingMs = 5000;

/**
 * The order of all steps: one at a time, chosen from all possible ones. Virtual time moves to the next timer when no other step is
 * possible, or when that is chosen.
 */
export class Scheduler implements Clock {
  readonly #choose: Choose;
  readonly #steps: Step[] = [];
  readonly #timers: Timer[] = [];
  #nowMs: number;
  #isRough = true;
  #taken = 0;

  constructor(choose: Choose, startMs: number) {
    this.#choose = choose;
    this.#nowMs = startMs;
  }

  now = () => this.#nowMs;

  /** The number of steps so far. */
  get taken() {
    return this.#taken;
  }

  /** Only recurring steps are left. */
  get isIdle() {
    return this.#steps.length === 0 && this.#timers.every(({ isRecurring }) => isRecurring);
  }

  add(step: Step) {
    this.#steps.push(step);
  }

  after = (delayMs: number, step: Step) => this.#at(this.#nowMs + delayMs, step, false);

  /** Delayed by a fault: when the faults end at the latest. */
  heldUp = (delayMs: number, step: Step) =>
    this.#isRough ? this.#at(this.#nowMs + delayMs, step, false, true) : this.add(step);

  /** Runs all delayed steps, and delays no more. */
  heal() {
    this.#isRough = false;
    const held = this.#timers.filter(({ isHeldUp }) => isHeldUp);
    for (const timer of held) this.#timers.splice(this.#timers.indexOf(timer), 1);
    for (const { step } of held) this.#steps.push(step);
  }

  /** Later, to check whether something has changed; rest does not wait for it. */
  look = (delayMs: number, step: Step) => this.#at(this.#nowMs + delayMs, step, true);

  /** At an interval, forever. */
  every(periodMs: number, step: Step) {
    const again = () => {
      this.#at(this.#nowMs + periodMs, again, true);
      return step();
    };
    this.#at(this.#nowMs + periodMs, again, true);
  }

  /** Runs one step; false if neither a step nor a timer is left. */
  async next(): Promise<boolean> {
    const steps = this.#steps.length;
    // Requests take time: a timer that is due soon may run before any of them is answered.
    const mayPass = this.#isRough && steps > 0 && (this.#timers[0]?.atMs ?? Infinity) - this.#nowMs <= mostPassingMs;
    if (steps === 0 && !this.#moveOn()) return false;
    this.#taken++;
    const among = this.#steps.length + (mayPass ? 1 : 0);
    const chosen = among > 1 ? this.#choose(among) : 0;
    if (mayPass && chosen === steps) return this.#moveOn();
    const [step] = this.#steps.splice(chosen, 1);
    await step?.();
    // Lets the receiver of that answer run until its next request: ticks come after all resolved promises.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    return true;
  }

  #at(atMs: number, step: Step, isRecurring: boolean, isHeldUp = false): () => void {
    const timer = { atMs, step, isRecurring, isHeldUp };
    const place = this.#timers.findLastIndex((other) => other.atMs <= atMs);
    this.#timers.splice(place + 1, 0, timer);
    return () => {
      const found = this.#timers.indexOf(timer);
      if (found >= 0) this.#timers.splice(found, 1);
    };
  }

  #moveOn(): boolean {
    const [first] = this.#timers;
    if (!first) return false;
    this.#nowMs = Math.max(this.#nowMs, first.atMs);
    while (this.#timers[0] && this.#timers[0].atMs <= this.#nowMs) {
      const due = this.#timers.shift();
      if (due) this.#steps.push(due.step);
    }
    return true;
  }
}
