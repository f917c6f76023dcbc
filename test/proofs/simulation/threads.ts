import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Answer, Task } from './task.ts';

/** Four times Node's: most of what a run makes is garbage at its end, and collecting less often costs less. */
const resourceLimits = { maxYoungGenerationSizeMb: 192 };

/** Threads that each do one task at a time. */
export class Threads {
  /** Whether they are to stop; the number of runs of all searches. */
  readonly #shared = new Int32Array(new SharedArrayBuffer(8));
  readonly #all: readonly Worker[];
  readonly #free: Worker[];

  constructor(count: number) {
    this.#all = Array.from(
      { length: count },
      () => new Worker(new URL('./thread.ts', import.meta.url), { workerData: this.#shared, resourceLimits }),
    );
    this.#free = [...this.#all];
  }

  get count() {
    return this.#all.length;
  }

  get runs() {
    return Atomics.load(this.#shared, 1);
  }

  /** At most `count` at once. */
  async run<T extends Task>(task: T): Promise<Answer<T>> {
    const thread = this.#free.pop();
    if (!thread) throw new Error(`expected a free thread for the task ${task.do}, found none`);
    thread.postMessage(task);
    const [answer] = await once(thread, 'message');
    this.#free.push(thread);
    return answer;
  }

  /** No search starts another run. */
  stop = () => void Atomics.store(this.#shared, 0, 1);

  async end() {
    await Promise.all(this.#all.map((thread) => thread.terminate()));
  }
}
