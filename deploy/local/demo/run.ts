import type { Look } from '../../terminal/paint.ts';
import type { Act, ActOptions, Step } from './act.ts';
import { type DemoImage, demoImages } from './images.ts';
import type { DemoResult } from './result.ts';
import { beginImages } from './run-images.ts';
import { beginMachines } from './run-machines.ts';
import { beginWorkspace } from './run-workspace.ts';
import { type DemoWorld, setUp } from './set-up.ts';
import { faultsOf } from './verify.ts';
import { machinesFaults } from './verify-machines.ts';
import { workspaceFaults } from './verify-workspace.ts';

export interface DemoOptions {
  /** Ends the demo early; `runDemo` then rejects with its reason, everything being taken down. */
  signal: AbortSignal;
  /** How long all of it may take. */
  timeoutMs?: number;
  /** There is something else to show from now on. */
  onReady(lines: (look: Look) => string[]): void;
  /** An image, a machine, a lab or a part of it took a step, so long after the beginning. */
  onStep(step: Step, elapsedMs: number): void;
  /** What a user would type to do what is done now. */
  onCommand(command: string, elapsedMs: number): void;
}

/**
 * Downloads the images of the demo on a local cluster of its own, then has machines made of them, then a whole lab; watches
 * how, and takes it all down again.
 */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const startedMs = Date.now();
  const late = AbortSignal.timeout(options.timeoutMs ?? 120_000);
  const images = demoImages();
  const world = await setUp(images);
  const ends = new AbortController();

  /** An act as far as it comes before the time is up. */
  async function play<Result>(begin: (world: DemoWorld, options: ActOptions) => Promise<Act<Result>>): Promise<Result> {
    const done = new AbortController();
    const act = await begin(world, {
      startedMs,
      watchSignal: AbortSignal.any([ends.signal, done.signal]),
      onReady: options.onReady,
      onStep: (step) => options.onStep(step, Date.now() - startedMs),
      onCommand: (command) => options.onCommand(command, Date.now() - startedMs),
    });
    // If the time is up or a user stops the demo, no one awaits it.
    act.over.catch(() => {});
    await Promise.race([act.over, aborted(options.signal), aborted(late).catch(() => undefined)]);
    const result = act.result();
    done.abort();
    return result;
  }

  try {
    options.signal.throwIfAborted();
    const downloaded = await play(beginImages);
    const machines = late.aborted ? null : await play(beginMachines);
    const workspace = late.aborted ? null : await play(beginWorkspace);
    const seconds = (Date.now() - startedMs) / 1000;
    return judged({ ...downloaded, seconds, isLate: late.aborted, machines, workspace }, images);
  } finally {
    ends.abort();
    await world.close();
  }
}

function judged(result: Omit<DemoResult, 'ok' | 'faults'>, images: readonly DemoImage[]): DemoResult {
  const { machines, workspace } = result;
  const applied = images.map(({ name }) => name);
  const faults = [
    ...faultsOf(result, applied),
    ...(machines ? machinesFaults(machines) : ['machines: expected the second act, found no time left for it']),
    ...(workspace ? workspaceFaults(workspace) : ['workspace: expected the third act, found no time left for it']),
  ];
  return { ok: faults.length === 0, faults, ...result };
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
