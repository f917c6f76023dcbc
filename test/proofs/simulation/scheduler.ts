import type { Clock } from '../../../deploy/local/clock.ts';

/** Which of several things that could happen next does; 0 is the one that has waited longest. */
export type Choose = (among: number) => number;

/** Something that could happen now. What it did is over when it resolves, but for what it scheduled. */
export type Step = () => void | Promise<void>;

interface Timer {
  atMs: number;
  step: Step;
  /** Does nothing while nothing changes: it is nothing to wait for. */
  isRecurring: boolean;
  /** Waits for nothing but the end of what goes wrong. */
  isHeldUp?: boolean;
}

/** So much time may pass while requests are under way. */
const mostPassingMs = 5000;

/**
 * The order in which everything happens: one step at a time, chosen among all that could happen, and virtual time that
 * moves on to the next timer when nothing else could, or when that is chosen.
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

  /** How many steps were taken so far. */
  get taken() {
    return this.#taken;
  }

  /** True where nothing is left to happen but what recurs. */
  get isIdle() {
    return this.#steps.length === 0 && this.#timers.every(({ isRecurring }) => isRecurring);
  }

  add(step: Step) {
    this.#steps.push(step);
  }

  after = (delayMs: number, step: Step) => this.#at(this.#nowMs + delayMs, step, false);

  /** Later because something is wrong: at the latest when that is healed. */
  heldUp = (delayMs: number, step: Step) =>
    this.#isRough ? this.#at(this.#nowMs + delayMs, step, false, true) : this.add(step);

  /** What was held up comes now, and from now on nothing takes longer than it has to. */
  heal() {
    this.#isRough = false;
    const held = this.#timers.filter(({ isHeldUp }) => isHeldUp);
    for (const timer of held) this.#timers.splice(this.#timers.indexOf(timer), 1);
    for (const { step } of held) this.#steps.push(step);
  }

  /** Later, and nothing to wait for: a look whether something has changed by then. */
  look = (delayMs: number, step: Step) => this.#at(this.#nowMs + delayMs, step, true);

  /** Every so often, for ever. */
  every(periodMs: number, step: Step) {
    const again = () => {
      this.#at(this.#nowMs + periodMs, again, true);
      return step();
    };
    this.#at(this.#nowMs + periodMs, again, true);
  }

  /** Takes one step; false where there is none and no time to wait for. */
  async next(): Promise<boolean> {
    const steps = this.#steps.length;
    // Requests take their time: what falls due soon may come before any of them is answered.
    const mayPass = this.#isRough && steps > 0 && (this.#timers[0]?.atMs ?? Infinity) - this.#nowMs <= mostPassingMs;
    if (steps === 0 && !this.#moveOn()) return false;
    this.#taken++;
    const among = this.#steps.length + (mayPass ? 1 : 0);
    const chosen = among > 1 ? this.#choose(among) : 0;
    if (mayPass && chosen === steps) return this.#moveOn();
    const [step] = this.#steps.splice(chosen, 1);
    await step?.();
    // Lets whatever that answer went to run until it asks for something again: ticks come after all that promises have to do.
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
